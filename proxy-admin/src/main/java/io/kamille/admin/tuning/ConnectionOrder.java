package io.kamille.admin.tuning;

import java.util.Comparator;

/** By what connections are put in order, the greatest first. */
public enum ConnectionOrder {
  /** The size the kernel may use, or has found by itself. */
  BUFFER,
  /** Estimated throughput. */
  RATE,
  /** Octets that wait for the client. */
  PENDING;

  Comparator<TunedConnection> greatestFirst() {
    Comparator<TunedConnection> least =
        switch (this) {
          case BUFFER -> Comparator.comparingLong(TunedConnection::bufferBytes);
          case RATE -> Comparator.comparingDouble(each -> each.estimate().bytesPerSecond());
          case PENDING -> Comparator.comparingLong(TunedConnection::pendingBytes);
        };
    return least.reversed().thenComparingLong(each -> each.channel.number());
  }
}
