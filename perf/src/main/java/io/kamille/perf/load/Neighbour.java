package io.kamille.perf.load;

/** A program that computes and does nothing else, for as long as its core is given to it. */
public final class Neighbour {

  private static volatile double result;

  private Neighbour() {}

  /** Computes until the process is told to end. */
  public static void main(String[] arguments) {
    double sum = 0;
    for (long i = 1; ; i++) {
      sum += 1.0 / i;
      if (i % 1_000_000 == 0) {
        result = sum;
        if (result < 0) {
          return;
        }
      }
    }
  }
}
