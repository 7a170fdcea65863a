package io.kamille.core.tls;

import io.kamille.core.loop.Seldom;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

/** How the handshakes of one listener ended. Any thread. */
public final class HandshakeCounters {

  private final LongAdder withTls13 = new LongAdder();
  private final LongAdder withTls12 = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder displaced = new LongAdder();
  private final Seldom clearText = new Seldom(TimeUnit.MINUTES.toNanos(1));
  // Volatile: set before the listener opens.
  private volatile BiConsumer<SocketAddress, Throwable> told = (_, _) -> {};

  /** Tells that one of each that fails from now on, on the loop. */
  public void tell(BiConsumer<SocketAddress, Throwable> failures) {
    told = failures;
  }

  /** One came to its end under this version, as the JDK names it. */
  public void succeeded(String version) {
    (version.equals("TLSv1.3") ? withTls13 : withTls12).increment();
  }

  /** One did not. */
  public void failed(SocketAddress client, Throwable why) {
    failed.increment();
    told.accept(client, why);
  }

  /** Whether the log is to say that one came in clear text: of all loops, one in a minute does. */
  public boolean tellsClearText(long nowNanos) {
    return clearText.isDue(nowNanos);
  }

  /** One was given up for newer ones. */
  public void displaced() {
    displaced.increment();
  }

  public long displacements() {
    return displaced.sum();
  }

  public long withTls13() {
    return withTls13.sum();
  }

  public long withTls12() {
    return withTls12.sum();
  }

  public long failures() {
    return failed.sum();
  }
}
