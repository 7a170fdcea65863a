package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.store.EncodedHead;
import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.h1.Spoiler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Facts of responses with any fields come back the same; spoiled ones are refused as promised. */
class FactsCodecFuzzTest {

  private static final int ROUNDS = 2_000;
  private static final int HEAD_LENGTH = 300;
  private static final long NOW = DiskFixture.NOW;
  private static final int[] NUMBERS = {
    -1, 0, 1, 2, 100, HEAD_LENGTH, 1 << 30, 0x7fff_ffff, 1 << 31
  };
  private static final List<String> VALUES =
      List.of(
          "max-age=60, must-revalidate, stale-while-revalidate=5",
          "s-maxage=60, immutable, no-cache, stale-if-error=7",
          "\"etag\"",
          "W/\"\u00fc\"",
          "Thu, 01 Jan 2026 00:00:00 GMT",
          "Thursday, 01-Jan-26 00:00:00 GMT",
          "Thu Jan  1 00:00:00 1970",
          "Accept-Language, X-Any, Foo",
          "Accept-Encoding",
          "*",
          "de, en;q=0.5",
          "gzip;q=1, x-gzip, br");
  private static final List<String> WORDS =
      List.of(
          " ", "\t", ",", ", ", ";", "\"", "0", "9", "foo", "Accept", "*", "\u00fc", "GMT", "=");
  private static final List<String> RESPONSE =
      List.of("Cache-Control", "ETag", "Last-Modified", "Vary", "Expires", "Date", "Age");
  private static final List<String> REQUEST =
      List.of("Accept-Language", "Accept-Encoding", "Accept", "X-Any", "foo");

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final Spoiler values = new Spoiler(random, VALUES, WORDS);

  @Test
  void whatIsKnownOfAnyResponseIsReadBack() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      StoredHead head = head();
      byte[] octets = FactsCodec.encode(head);
      ByteBuf in = Unpooled.wrappedBuffer(octets);
      assertThat(FactsCodec.decode(in, HEAD_LENGTH)).as(because(octets)).isEqualTo(head);
      assertThat(in.isReadable()).as(because(octets)).isFalse();
    }
    budget.report("facts");
  }

  @Test
  void tagsAndNamesUpToTheirLimitsAndBeyondAreReadBack() {
    for (int count : new int[] {1, Tags.LIMIT - 1, Tags.LIMIT, Tags.LIMIT + 1, 5 * Tags.LIMIT}) {
      ResponseHead response = ResponseHead.of(200);
      response.fields().add("Cache-Control", "max-age=60");
      response.fields().add("Cache-Tag", names("t%d", count));
      response.fields().add("Surrogate-Key", "x".repeat(count));
      response.fields().add("Cache-Groups", names("\"g%d\"", count));
      response.fields().add("ETag", '"' + "e".repeat(count) + '"');
      response.fields().add("Vary", names("v%d", count / 50 + 1));
      RequestHead request = RequestHead.of("GET", "http://example.org/");
      Tags tags = Tags.of(request, response.fields());
      StoredFacts facts = StoredFacts.of(response, CachePolicy.DEFAULT, NOW, NOW);
      StoredHead head =
          new StoredHead(
              new EncodedHead(200, 0, HEAD_LENGTH, "s".repeat(count)),
              facts.tagged(tags),
              SelectingFields.of(response.fields(), request, VaryBy.NONE),
              true);
      ByteBuf in = Unpooled.wrappedBuffer(FactsCodec.encode(head));
      assertThat(FactsCodec.decode(in, HEAD_LENGTH)).as(count + " of each").isEqualTo(head);
      assertThat(tags.size()).isBetween(1, 2 * Tags.LIMIT);
    }
  }

  private static String names(String form, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> String.format(Locale.ROOT, form, i))
        .collect(Collectors.joining(", "));
  }

  @Test
  void spoiledFactsAreRefusedOrSayOneThing() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      byte[] octets = spoiled(FactsCodec.encode(head()));
      StoredHead read = decoded(octets);
      if (read != null) {
        byte[] again = FactsCodec.encode(read);
        StoredHead same = FactsCodec.decode(Unpooled.wrappedBuffer(again), HEAD_LENGTH);
        assertThat(FactsCodec.encode(same)).as(because(octets)).isEqualTo(again);
      }
    }
    budget.report("spoiled facts");
  }

  private static @Nullable StoredHead decoded(byte[] octets) {
    try {
      return FactsCodec.decode(Unpooled.wrappedBuffer(octets), HEAD_LENGTH);
    } catch (IndexOutOfBoundsException | IllegalArgumentException promised) {
      return null;
    } catch (RuntimeException | OutOfMemoryError other) {
      throw new AssertionError(because(octets), other);
    }
  }

  private byte[] spoiled(byte[] octets) {
    ByteBuf spoiled = Unpooled.buffer().writeBytes(octets);
    for (int i = random.nextInt(3); i >= 0; i--) {
      int at = random.nextInt(octets.length - Integer.BYTES);
      switch (random.nextInt(4)) {
        case 0 -> spoiled.setByte(at, random.nextInt(256));
        case 1 -> spoiled.setInt(at, NUMBERS[random.nextInt(NUMBERS.length)]);
        case 2 -> spoiled.setByte(at, spoiled.getByte(at) ^ 1 << random.nextInt(8));
        default -> spoiled.writerIndex(random.nextInt(Integer.BYTES, octets.length + 1));
      }
    }
    byte[] result = new byte[spoiled.readableBytes()];
    spoiled.readBytes(result);
    return result;
  }

  private StoredHead head() {
    ResponseHead response = ResponseHead.of(200 + random.nextInt(300));
    RESPONSE.stream()
        .filter(name -> random.nextInt(3) > 0)
        .forEach(name -> response.fields().add(name, values.next().strip()));
    RequestHead request = RequestHead.of("GET", "http://example.org/");
    REQUEST.stream()
        .filter(name -> random.nextInt(3) > 0)
        .forEach(name -> request.fields().add(name, values.next().strip()));
    String cacheStatus = random.nextBoolean() ? null : values.next();
    return new StoredHead(
        new EncodedHead(
            response.status(), random.nextInt(HEAD_LENGTH + 1), HEAD_LENGTH, cacheStatus),
        StoredFacts.of(response, CachePolicy.DEFAULT, NOW - random.nextInt(3), NOW),
        SelectingFields.of(response.fields(), request, VaryBy.NONE),
        random.nextBoolean());
  }

  private static String because(byte[] octets) {
    return "seed " + FuzzBudget.SEED + ": " + java.util.HexFormat.of().formatHex(octets);
  }
}
