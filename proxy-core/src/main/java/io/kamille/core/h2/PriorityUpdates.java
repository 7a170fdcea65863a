package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import org.jspecify.annotations.Nullable;

/**
 * Priorities that clients state for streams apart from their requests, and for streams they have
 * not opened yet (RFC 9218 §7.1). Confined to its loop.
 */
final class PriorityUpdates {

  /** As many as there may be streams: more of them help nobody (RFC 9218 §7.1). */
  private static final int MOST_EARLY = 128;

  private static final int MOST_OCTETS = 64;

  private final OpenStreams streams;
  private @Nullable IntObjectMap<Priority> early;

  PriorityUpdates(OpenStreams streams) {
    this.streams = streams;
  }

  /** Reads the payload of a frame. Returns false if it names no stream that a client opens. */
  boolean read(ByteBuf payload) {
    int id = payload.readInt() & Integer.MAX_VALUE;
    if (id % 2 == 0) {
      return false;
    }
    byte[] value = new byte[Math.min(payload.readableBytes(), MOST_OCTETS)];
    payload.readBytes(value);
    Priority priority = Priority.parse(value, 0, value.length);
    H2Stream stream = streams.find(id);
    if (stream != null) {
      stream.priority(priority);
    } else if (id > streams.lastId()) {
      keep(id, priority);
    }
    return true;
  }

  private void keep(int id, Priority priority) {
    IntObjectMap<Priority> kept = early;
    if (kept == null) {
      kept = new IntObjectHashMap<>(8);
      early = kept;
    }
    if (kept.size() < MOST_EARLY) {
      kept.put(id, priority);
    }
  }

  /** What was said of a stream before it was opened; null if nothing was. */
  @Nullable Priority take(int id) {
    return early == null ? null : early.remove(id);
  }
}
