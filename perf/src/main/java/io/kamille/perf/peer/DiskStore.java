package io.kamille.perf.peer;

import io.kamille.cache.disk.Disk;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.StoreOpening;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Writes the directory of a disk tier as Kamille would, without a request for each response.
 * Confined to one thread; takes the store's secret of cache keys for the whole process.
 */
public final class DiskStore {

  private static final long ARENA_BYTES = 64L << 20;
  private static final long QUEUE_BYTES = 16L << 20;
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final String FRESH = "max-age=360000";

  private final Arena arena;
  private final DiskTier tier;
  private final long nowEpochSeconds = WallClock.system().epochSeconds();

  private DiskStore(Arena arena, DiskTier tier) {
    this.arena = arena;
    this.tier = tier;
  }

  /**
   * Writes that many responses, fresh for days, and leaves the files to another process.
   *
   * @param capacityBytes what the files may take; the reader has to be given the same
   * @param uri of each, absolute
   * @param content of each
   * @throws IOException if the directory cannot be had, or the disk fails
   */
  public static void write(
      Path directory,
      long capacityBytes,
      int count,
      IntFunction<String> uri,
      IntFunction<byte[]> content)
      throws IOException {
    Arena arena = Arena.open(ARENA_BYTES);
    try (DiskTier tier =
        StoreOpening.open(Disk.ofSystem(), directory, capacityBytes, QUEUE_BYTES)) {
      HashSecret.use(tier.secretHigh(), tier.secretLow());
      var store = new DiskStore(arena, tier);
      for (int i = 0; i < count; i++) {
        store.put(uri.apply(i), content.apply(i));
      }
      store.awaitSize(count);
    } finally {
      arena.close();
    }
  }

  private void put(String uri, byte[] content) throws IOException {
    StoredResponse response = response(uri, content);
    CacheKey key = CacheKey.of(RequestHead.of("GET", uri));
    boolean isTaken = offer(key, response);
    while (!isTaken) {
      checkRunning();
      LockSupport.parkNanos(LOOK_NANOS);
      isTaken = offer(key, response);
    }
    response.release();
  }

  private boolean offer(CacheKey key, StoredResponse response) {
    response.retain();
    return tier.offer(key, response, 0, () -> true);
  }

  private StoredResponse response(String uri, byte[] content) {
    ResponseHead head =
        ResponseHead.of(200, "Cache-Control", FRESH, "Content-Type", "application/octet-stream");
    ByteBuf octets = Unpooled.buffer(content.length + 256);
    EncodedHead encoded = ResponseCodec.encode(uri, head, octets);
    octets.writeBytes(content);
    ArenaWriter writer = arena.writer(octets.readableBytes(), 0);
    while (writer == null) {
      LockSupport.parkNanos(LOOK_NANOS);
      writer = arena.writer(octets.readableBytes(), 0);
    }
    if (!writer.append(octets)) {
      throw new IllegalStateException("content: " + content.length + " octets (expected: less)");
    }
    octets.release();
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, nowEpochSeconds, nowEpochSeconds);
    return StoredResponse.of(encoded, writer.commit(), facts, SelectingFields.NONE);
  }

  /** Waits until all is written. */
  private void awaitSize(int count) throws IOException {
    var written = new CountDownLatch(1);
    tier.whenWritten(written::countDown);
    while (written.getCount() > 0) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    checkRunning();
    if (tier.size() < count) {
      throw new IOException(
          "capacity: " + tier.capacityBytes() + " octets (expected: more for " + count + ")");
    }
  }

  private void checkRunning() throws IOException {
    if (!tier.isRunning()) {
      throw new IOException("the disk failed; the log has the reason");
    }
  }
}
