package io.kamille.core.loop;

/** The clock of the machine. Any thread. */
enum SystemClock implements WallClock {
  INSTANCE;

  @Override
  public long epochMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }
}
