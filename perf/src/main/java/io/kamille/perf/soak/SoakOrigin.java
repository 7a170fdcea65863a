package io.kamille.perf.soak;

import io.kamille.launcher.origin.ScriptedOrigin;
import java.io.IOException;
import java.net.Socket;
import java.util.SplittableRandom;

/** An origin of the soak on a loopback port, sound or not. Any thread. */
final class SoakOrigin implements AutoCloseable {

  private final ScriptedOrigin origin;
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;

  // Volatile: set by the operator, read for each connection.
  private volatile boolean isDown;

  private SoakOrigin(Versions versions, Tally tally, long seed) throws IOException {
    this.versions = versions;
    this.tally = tally;
    this.random = new SplittableRandom(seed);
    this.origin = ScriptedOrigin.start(0, this::serve);
  }

  /** Listens until it is closed. */
  static SoakOrigin open(Versions versions, Tally tally, long seed) throws IOException {
    return new SoakOrigin(versions, tally, seed);
  }

  int port() {
    return origin.port();
  }

  /** While it is down, connections are reset as soon as they come. */
  void down(boolean down) {
    isDown = down;
  }

  private void serve(Socket socket) throws IOException {
    if (isDown) {
      socket.setSoLinger(true, 0);
      return;
    }
    try {
      var connection = new OriginConnection(socket, versions, tally, split());
      while (connection.answerNext()) {
        tally.count("origin.answered");
      }
    } catch (IOException e) {
      tally.count("origin.broken-off");
    } catch (RuntimeException e) {
      tally.fail("origin: " + e);
    }
  }

  private synchronized SplittableRandom split() {
    return random.split();
  }

  @Override
  public void close() throws IOException {
    origin.close();
  }
}
