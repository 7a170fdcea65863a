package io.kamille.core.h2;

/**
 * How much content the other side may still send on all streams of one connection together (RFC
 * 9113 §5.2). Confined to its loop.
 */
final class ReceiveWindow {

  /*
   * Credit is given only for what was passed on, and only once it is half of the window. A stream
   * that waits for a slow origin holds what it was sent; this window bounds what all streams of one
   * client hold together.
   *
   * With an origin it is the reverse: one connection carries many clients, and one that pauses must
   * not stop the others. So credit is given on receipt, and the windows of the streams bound what
   * is held.
   */

  /** The window of a connection, and of a stream, that was told of no other. */
  static final int DEFAULT_BYTES = 65_535;

  private final FrameWriter writer;
  private final int fullBytes;
  private int leftBytes;
  private final boolean creditsOnReceipt;
  private int creditBytes;

  ReceiveWindow(FrameWriter writer, int fullBytes, boolean creditsOnReceipt) {
    this.writer = writer;
    this.fullBytes = fullBytes;
    this.creditsOnReceipt = creditsOnReceipt;
    this.leftBytes = fullBytes;
  }

  /** Says how large the window is. */
  void open() {
    if (fullBytes > DEFAULT_BYTES) {
      writer.windowUpdate(0, fullBytes - DEFAULT_BYTES);
    }
  }

  /** So many octets came. Returns false if they were too many. */
  boolean take(int bytes) {
    leftBytes -= bytes;
    if (leftBytes < 0) {
      return false;
    }
    if (creditsOnReceipt) {
      give(bytes);
    }
    return true;
  }

  /** So many octets were passed on or dropped. */
  void credit(int bytes) {
    if (!creditsOnReceipt) {
      give(bytes);
    }
  }

  private void give(int bytes) {
    creditBytes += bytes;
    if (creditBytes >= fullBytes / 2) {
      leftBytes += creditBytes;
      writer.windowUpdate(0, creditBytes);
      creditBytes = 0;
    }
  }
}
