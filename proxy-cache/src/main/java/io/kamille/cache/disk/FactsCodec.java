package io.kamille.cache.disk;

import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.ReuseRules;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.EncodedHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is known of a stored response beside its octets, as octets. Stateless; any thread. */
public final class FactsCodec {

  /*
   * One item after another in the order of encode(). A text is its length and ISO 8859-1, as field
   * values come; length -1 is none. Selecting fields are written as the names of Vary and the
   * request's fields, and are worked out from these again.
   */
  private static final int IS_VALIDATED_ALWAYS = 1;
  private static final int IS_VALIDATED_ONCE_STALE = 1 << 1;
  private static final int HAS_SHARED_MAX_AGE = 1 << 2;
  private static final int IS_IMMUTABLE = 1 << 3;
  private static final int IS_CODABLE = 1 << 4;
  private static final String ALL = "*";

  private FactsCodec() {}

  /** All of that, in octets. */
  public static byte[] encode(StoredHead head) {
    ByteBuf out = Unpooled.buffer(256);
    out.writeInt(head.encoded().status());
    out.writeInt(head.encoded().uriLength());
    writeText(out, head.encoded().cacheStatus());
    encode(out, head.facts(), head.isCodable());
    encode(out, head.selecting());
    byte[] octets = new byte[out.readableBytes()];
    out.readBytes(octets);
    return octets;
  }

  private static void encode(ByteBuf out, StoredFacts facts, boolean isCodable) {
    out.writeLong(facts.responseTime());
    out.writeInt(facts.correctedInitialAge());
    out.writeInt(facts.freshness().lifetimeSeconds());
    writeText(out, facts.freshness().source().name());
    out.writeByte(flags(facts.rules()) | (isCodable ? IS_CODABLE : 0));
    out.writeInt(facts.rules().staleWhileRevalidateSeconds());
    out.writeInt(facts.rules().staleIfErrorSeconds());
    out.writeInt(facts.rules().maxStaleSeconds());
    out.writeLong(facts.date());
    writeText(out, facts.entityTag());
    writeText(out, facts.lastModifiedText());
    out.writeLong(facts.lastModified());
    out.writeInt(facts.tags().size());
    for (int i = 0; i < facts.tags().size(); i++) {
      out.writeLong(facts.tags().at(i));
    }
  }

  private static int flags(ReuseRules rules) {
    return (rules.isValidatedAlways() ? IS_VALIDATED_ALWAYS : 0)
        | (rules.isValidatedOnceStale() ? IS_VALIDATED_ONCE_STALE : 0)
        | (rules.hasSharedMaxAge() ? HAS_SHARED_MAX_AGE : 0)
        | (rules.isImmutable() ? IS_IMMUTABLE : 0);
  }

  private static void encode(ByteBuf out, SelectingFields selecting) {
    if (selecting.isEmpty()) {
      writeText(out, null);
      return;
    }
    writeText(out, selecting.names().isEmpty() ? ALL : String.join(",", selecting.names()));
    Map<String, @Nullable String> values = selecting.values();
    values.values().removeIf(Objects::isNull);
    out.writeInt(values.size());
    values.forEach(
        (name, value) -> {
          writeText(out, name);
          writeText(out, value);
        });
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param headLength octets of the encoded head
   * @throws IndexOutOfBoundsException or {@link IllegalArgumentException} if that is something else
   */
  public static StoredHead decode(ByteBuf in, int headLength) {
    int status = in.readInt();
    int uriLength = in.readInt();
    if (uriLength < 0 || uriLength > headLength) {
      throw new IllegalArgumentException("uriLength: " + uriLength);
    }
    EncodedHead encoded = new EncodedHead(status, uriLength, headLength, readText(in));
    long responseTime = in.readLong();
    int correctedInitialAge = in.readInt();
    Freshness freshness =
        new Freshness(in.readInt(), Freshness.Source.valueOf(present(readText(in))));
    int flags = in.readByte();
    ReuseRules rules =
        new ReuseRules(
            status,
            freshness,
            (flags & IS_VALIDATED_ALWAYS) != 0,
            (flags & IS_VALIDATED_ONCE_STALE) != 0,
            (flags & HAS_SHARED_MAX_AGE) != 0,
            (flags & IS_IMMUTABLE) != 0,
            in.readInt(),
            in.readInt(),
            in.readInt());
    StoredFacts facts =
        new StoredFacts(
            rules.shared(),
            responseTime,
            correctedInitialAge,
            in.readLong(),
            readText(in),
            readText(in),
            in.readLong(),
            decodeTags(in));
    return new StoredHead(encoded, facts, decodeSelecting(in), (flags & IS_CODABLE) != 0);
  }

  private static Tags decodeTags(ByteBuf in) {
    int count = in.readInt();
    if (count < 0 || count > 2 * Tags.LIMIT) {
      throw new IllegalArgumentException("tags: " + count);
    }
    long[] bits = new long[count];
    for (int i = 0; i < count; i++) {
      bits[i] = in.readLong();
    }
    return Tags.ofBits(bits);
  }

  private static SelectingFields decodeSelecting(ByteBuf in) {
    String names = readText(in);
    if (names == null) {
      return SelectingFields.NONE;
    }
    Map<String, @Nullable String> values = new HashMap<>();
    for (int count = in.readInt(); count > 0; count--) {
      values.put(present(readText(in)), present(readText(in)));
    }
    return SelectingFields.kept(List.of(names.split(",", -1)), values);
  }

  private static void writeText(ByteBuf out, @Nullable String text) {
    if (text == null) {
      out.writeInt(-1);
    } else {
      out.writeInt(text.length());
      out.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    }
  }

  private static @Nullable String readText(ByteBuf in) {
    int length = in.readInt();
    return length < 0 ? null : in.readCharSequence(length, StandardCharsets.ISO_8859_1).toString();
  }

  private static String present(@Nullable String text) {
    if (text == null) {
      throw new IllegalArgumentException("text: none (expected: one)");
    }
    return text;
  }
}
