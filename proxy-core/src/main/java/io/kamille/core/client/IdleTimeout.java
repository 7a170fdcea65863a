package io.kamille.core.client;

/** How long a client connection may be idle. Any thread. */
@FunctionalInterface
public interface IdleTimeout {

  /**
   * The time-out now, in nanoseconds; never longer than configured.
   *
   * @param leaving connections of the asking loop whose closing has begun: they count no more
   */
  long nanos(long configuredNanos, int leaving);
}
