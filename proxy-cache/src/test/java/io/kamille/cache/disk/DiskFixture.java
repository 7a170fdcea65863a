package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A disk tier whose thread the test plays, and responses to put there. */
final class DiskFixture implements AutoCloseable {

  static final int SEGMENT_BYTES = 4096;
  static final long CAPACITY_BYTES = 8 * SEGMENT_BYTES;
  static final long NOW = 1_800_000_000;

  /** A response as the test wrote it, or as it was read. */
  record Whole(StoredHead head, long sequence, List<Byte> octets) {}

  final MemoryDirectory directory;
  final DiskTier tier;
  private final Arena arena = Arena.open(4 << 20);

  DiskFixture() {
    this(new MemoryDirectory());
  }

  DiskFixture(MemoryDirectory directory) {
    this(directory, CAPACITY_BYTES);
  }

  DiskFixture(MemoryDirectory directory, long capacityBytes) {
    this.directory = directory;
    try {
      this.tier = new DiskTier(directory, capacityBytes, SEGMENT_BYTES, 1 << 20);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Opens what is there, and takes in all of it. */
  static DiskFixture recovered(MemoryDirectory directory) {
    DiskFixture fixture = new DiskFixture(directory);
    fixture.run();
    return fixture;
  }

  static String uri(int number) {
    return "http://example.org/" + number;
  }

  static CacheKey key(int number) {
    return CacheKey.of(RequestHead.of("GET", uri(number)));
  }

  /** Content that differs in every version. */
  static byte[] content(int number, int version, int length) {
    byte[] content = new byte[length];
    new Random(number * 1000L + version).nextBytes(content);
    return content;
  }

  static ResponseHead head(int version, String... fields) {
    ResponseHead head =
        ResponseHead.of(
            200,
            "Cache-Control",
            "max-age=60, must-revalidate",
            "ETag",
            "\"v" + version + "\"",
            "Last-Modified",
            "Thu, 01 Jan 2026 00:00:00 GMT",
            "Cache-Status",
            "behind; hit");
    for (int i = 0; i < fields.length; i += 2) {
      head.fields().add(fields[i], fields[i + 1]);
    }
    return head;
  }

  /** A response with a lease that the caller owns. */
  StoredResponse response(int number, byte[] content, ResponseHead head, RequestHead request) {
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode(uri(number), head, octets);
    ArenaWriter writer =
        Objects.requireNonNull(arena.writer(octets.readableBytes() + content.length, 0));
    assertThat(writer.append(octets)).isTrue();
    assertThat(writer.append(Unpooled.wrappedBuffer(content))).isTrue();
    return StoredResponse.of(
        encoded,
        writer.commit(),
        StoredFacts.of(head, CachePolicy.DEFAULT, NOW - 1, NOW),
        SelectingFields.of(head.fields(), request, VaryBy.NONE));
  }

  /** Has a version of a response written. */
  void put(int number, int version, int length) {
    offer(number, version, length, new AtomicBoolean(true));
    run();
  }

  boolean offer(int number, int version, int length, AtomicBoolean isCurrent) {
    StoredResponse response =
        response(
            number,
            content(number, version, length),
            head(version),
            RequestHead.of("GET", uri(number)));
    return tier.offer(key(number), response, version, isCurrent::get);
  }

  void putVariant(int number, int version, int length, String language) {
    offerVariant(number, version, length, language);
    run();
  }

  /** What tells the variant of that language apart. */
  static SelectingFields selecting(String language) {
    return SelectingFields.of(
        head(0, "Vary", "Accept-Language, X-Absent").fields(),
        RequestHead.of("GET", uri(0), "Accept-Language", language),
        VaryBy.NONE);
  }

  void offerVariant(int number, int version, int length, String language) {
    StoredResponse response =
        response(
            number,
            content(number, version, length),
            head(version, "Vary", "Accept-Language, X-Absent"),
            RequestHead.of("GET", uri(number), "Accept-Language", language));
    assertThat(tier.offer(key(number), response, version, () -> true)).isTrue();
  }

  /** Does all work there is. */
  void run() {
    boolean isMore = true;
    while (isMore) {
      isMore = tier.runOnce();
    }
  }

  /** What can be read under that key. */
  List<Whole> all(int number) {
    List<Whole> all = new ArrayList<>();
    for (Extent extent : tier.find(key(number))) {
      Whole whole = read(key(number), extent);
      if (whole != null) {
        all.add(whole);
      }
    }
    return all;
  }

  @Nullable Whole read(CacheKey key, Extent extent) {
    CollectingSink sink = new CollectingSink();
    return tier.read(key, extent, sink) ? sink.whole() : null;
  }

  /** The version that can be read, 0 for none; fails if it is not octet for octet what was put. */
  int version(int number, int length) {
    List<Whole> all = all(number);
    if (all.isEmpty()) {
      return 0;
    }
    assertThat(all).hasSize(1);
    int version = (int) all.getFirst().sequence();
    assertThat(all.getFirst()).isEqualTo(whole(number, version, length));
    return version;
  }

  /** What must be read of a response that {@link #put} wrote. */
  private static Whole whole(int number, int version, int length) {
    ResponseHead head = head(version);
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode(uri(number), head, octets);
    octets.writeBytes(content(number, version, length));
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, NOW - 1, NOW);
    byte[] all = new byte[octets.readableBytes()];
    octets.readBytes(all);
    return new Whole(
        new StoredHead(encoded, facts, SelectingFields.NONE, false), version, list(all));
  }

  static List<Byte> list(byte[] octets) {
    List<Byte> list = new ArrayList<>(octets.length);
    for (byte octet : octets) {
      list.add(octet);
    }
    return list;
  }

  /** Ends without the tier being closed, as by a kill; every lease must have ended. */
  void kill() {
    arena.close();
  }

  @Override
  public void close() {
    tier.close();
    arena.close();
  }

  private static final class CollectingSink implements RecordSink {

    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private @Nullable StoredHead head;
    private long sequence;

    @Override
    public boolean begin(StoredHead head, long sequence, int contentLength) {
      this.head = head;
      this.sequence = sequence;
      return true;
    }

    @Override
    public boolean append(ByteBuf piece) {
      byte[] copy = new byte[piece.readableBytes()];
      piece.getBytes(piece.readerIndex(), copy);
      octets.writeBytes(copy);
      return true;
    }

    Whole whole() {
      return new Whole(Objects.requireNonNull(head), sequence, list(octets.toByteArray()));
    }
  }
}
