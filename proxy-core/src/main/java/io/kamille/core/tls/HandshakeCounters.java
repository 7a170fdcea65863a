package io.kamille.core.tls;

import java.util.concurrent.atomic.LongAdder;

/** How the handshakes of one listener ended. Any thread. */
public final class HandshakeCounters {

  private final LongAdder withTls13 = new LongAdder();
  private final LongAdder withTls12 = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder displaced = new LongAdder();

  /** One came to its end under this version, as the JDK names it. */
  public void succeeded(String version) {
    (version.equals("TLSv1.3") ? withTls13 : withTls12).increment();
  }

  /** One did not. */
  public void failed() {
    failed.increment();
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
