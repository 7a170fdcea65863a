package io.kamille.core.h2;

import io.netty.handler.codec.http2.Http2Error;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the other side of one connection does wrong, or too often, and the end of the connection for
 * it (RFC 9113 §5.4.1). Confined to its loop.
 */
final class Faults {

  private final OpenStreams streams;
  private final FrameWriter writer;
  private final AttackBudget budget;
  private final H2Owner owner;
  private final LongSupplier clock;
  private boolean ended;

  Faults(
      OpenStreams streams,
      FrameWriter writer,
      AttackBudget budget,
      H2Owner owner,
      LongSupplier clock) {
    this.streams = streams;
    this.writer = writer;
    this.budget = budget;
    this.owner = owner;
    this.clock = clock;
  }

  /** Ends the connection. */
  void fail(Http2Error code, String reason) {
    if (!ended) {
      ended = true;
      writer.goAway(streams.lastOfPeer(), code);
      owner.failed(code, reason);
    }
  }

  /** Ends one stream, or what would be one, which costs the other side points. */
  void reset(int id, Http2Error code, String reason) {
    H2Stream stream = streams.find(id);
    if (stream != null) {
      stream.faulty(reason);
    }
    streams.reset(id, code);
    spendForEnd(stream, AttackBudget.FAULTY);
  }

  /**
   * Takes points for the end of a stream. One that we opened is no flood of the other side: each
   * costs us a request, and others share the connection.
   */
  void spendForEnd(@Nullable H2Stream stream, int points) {
    if (stream == null || !streams.areOurs()) {
      spend(points);
    }
  }

  /**
   * Takes points from the budget.
   *
   * @return false if the connection has ended
   */
  boolean spend(int points) {
    if (!budget.spend(points, clock.getAsLong())) {
      fail(Http2Error.ENHANCE_YOUR_CALM, "a flood of frames");
    }
    return !ended;
  }

  /** The connection is gone, or about to be, whosever fault it is. */
  void end() {
    ended = true;
  }

  /** Whether nothing more is to be read or written. */
  boolean haveEnded() {
    return ended;
  }
}
