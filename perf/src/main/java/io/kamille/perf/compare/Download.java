package io.kamille.perf.compare;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** One response that a client reads evenly over a long time. Confined to its thread. */
final class Download implements Runnable {

  private static final int PART_BYTES = 64 << 10;

  private final InetAddress server;
  private final int port;
  private final int bytes;
  private final Duration duration;
  private String outcome = "not begun";

  Download(InetAddress server, int port, int bytes, Duration duration) {
    this.server = server;
    this.port = port;
    this.bytes = bytes;
    this.duration = duration;
  }

  @Override
  public void run() {
    long pauseNanos = duration.toNanos() / (bytes / PART_BYTES);
    int received = 0;
    try (Socket connection = new Socket(server, port)) {
      connection
          .getOutputStream()
          .write(
              ("GET " + UpgradeClient.LARGE + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                  .getBytes(US_ASCII));
      InputStream in = connection.getInputStream();
      UpgradeClient.head(in, in.read());
      long due = System.nanoTime();
      for (int read = 1; read > 0; received += Math.max(0, read)) {
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
