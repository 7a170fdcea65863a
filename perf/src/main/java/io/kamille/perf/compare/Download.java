package io.kamille.perf.compare;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** One response that a client reads evenly over a long time. Confined to its thread. */
final class Download implements Runnable {

  private static final int PART_BYTES = 64 << 10;

  private final URI uri;
  private final int bytes;
  private final Duration duration;
  private String outcome = "not begun";

  Download(URI uri, int bytes, Duration duration) {
    this.uri = uri;
    this.bytes = bytes;
    this.duration = duration;
  }

  @Override
  public void run() {
    long pauseNanos = duration.toNanos() / (bytes / PART_BYTES);
    int received = 0;
    try (InputStream in = uri.toURL().openStream()) {
      long due = System.nanoTime();
      for (int read = 1; read > 0; received += read) {
        read = in.readNBytes(PART_BYTES).length;
        due += pauseNanos;
        LockSupport.parkNanos(due - System.nanoTime());
      }
      outcome = received == bytes ? "whole" : "ended after " + received + " octets";
    } catch (IOException broken) {
      outcome = "broken after " + received + " octets: " + broken.getMessage();
    }
  }

  String outcome() {
    return outcome;
  }
}
