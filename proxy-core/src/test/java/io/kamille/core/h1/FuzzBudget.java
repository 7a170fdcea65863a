package io.kamille.core.h1;

import io.kamille.core.SuppressForbidden;
import java.util.concurrent.TimeUnit;

/**
 * How long a fuzzer goes on: so many rounds, which makes a run repeatable, or as many seconds as
 * {@code -Dkamille.fuzz.seconds} says. Confined to one thread.
 */
public final class FuzzBudget {

  private static final long SECONDS = Long.getLong("kamille.fuzz.seconds", 0);

  /** Set with {@code -Dkamille.fuzz.seed} to look elsewhere. */
  public static final long SEED = Long.getLong("kamille.fuzz.seed", 9112);

  private final long start = System.nanoTime();
  private final long rounds;
  private long round;

  /** So many rounds, unless the property names seconds. */
  public FuzzBudget(long rounds) {
    this.rounds = rounds;
  }

  /** Whether somebody waits for a long run. */
  public static boolean isLong() {
    return SECONDS > 0;
  }

  /** Whether there is another round; begins it. */
  public boolean hasNext() {
    boolean goesOn =
        SECONDS == 0
            ? round < rounds
            : System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS);
    round += goesOn ? 1 : 0;
    return goesOn;
  }

  /** The number of the present round, from 1; afterwards how many there were. */
  public long round() {
    return round;
  }

  /** Tells whoever waits for a long run of it. */
  @SuppressForbidden("read on the terminal of the one who runs it")
  public void report(String what) {
    if (SECONDS > 0) {
      System.out.println("fuzz: " + what + ", seed " + SEED + ", " + round + " rounds");
    }
  }
}
