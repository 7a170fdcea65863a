package io.kamille.cluster.engine;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/** Logs who is not let in, and not often. Any thread. */
public final class StrangerLines {

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private long lastNanos = System.nanoTime() - PAUSE_NANOS;

  /** The handshake of that one has failed. */
  public synchronized void tell(SocketAddress address, Throwable why) {
    long now = System.nanoTime();
    // A node closes one of two connections, perhaps before their handshake ends.
    if (why instanceof SSLException
        && !(why.getCause() instanceof IOException)
        && now - lastNanos >= PAUSE_NANOS) {
      lastNanos = now;
      LOG.log(
          Level.WARNING,
          "{0} is no node of this cluster, and is not let in: {1}",
          address,
          why.getMessage());
    }
  }
}
