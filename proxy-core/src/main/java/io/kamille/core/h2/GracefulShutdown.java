package io.kamille.core.h2;

/** How a connection says that it takes no more streams (RFC 9113 §6.8). Confined to its loop. */
final class GracefulShutdown {

  /*
   * A drain takes one round trip: GOAWAY with the greatest stream id, a PING, and behind its answer
   * GOAWAY with the last id that was taken. So no request that was on its way is lost.
   */
  private static final long PING = 0x6b616d696c6c65L;

  private final OpenStreams streams;
  private final FrameWriter writer;
  private final Faults faults;

  GracefulShutdown(OpenStreams streams, FrameWriter writer, Faults faults) {
    this.streams = streams;
    this.writer = writer;
    this.faults = faults;
  }

  /** Says that no more streams are taken soon. */
  void first() {
    if (!faults.haveEnded() && streams.takesMore()) {
      writer.goAway(Integer.MAX_VALUE, ErrorCode.NO_ERROR);
      writer.ping(PING, false);
    }
  }

  /** A PING was answered. */
  void answered(long content) {
    if (content == PING && streams.takesMore()) {
      streams.takeNoMore();
      writer.goAway(streams.lastOfPeer(), ErrorCode.NO_ERROR);
    }
  }

  /** The connection is about to be closed. */
  void last() {
    if (!faults.haveEnded()) {
      faults.end();
      writer.goAway(streams.lastOfPeer(), ErrorCode.NO_ERROR);
    }
  }

  /** Whether all that was promised is done. */
  boolean areDone() {
    return !streams.takesMore() && streams.isEmpty();
  }
}
