package io.kamille.core.loop;

import java.util.function.LongSupplier;

/** Requests that a loop has answered, once somebody counts them. Any thread. */
final class Answered implements LongSupplier {

  // Volatile: whoever assembles the appliance says it, the loop asks a hundred times a second.
  private volatile LongSupplier count = () -> 0;

  void countedBy(LongSupplier requests) {
    count = requests;
  }

  @Override
  public long getAsLong() {
    return count.getAsLong();
  }
}
