package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Whatever octets come: no exception, nothing read past the end, the same verdict however they are
 * cut. A buffer without spare room throws when it is read past its end.
 */
class RequestParserFuzzTest {

  /** Raise with {@code -Dkamille.fuzz.rounds=…} for a longer look. */
  static final int ROUNDS = Integer.getInteger("kamille.fuzz.rounds", 20_000);

  /** Set with {@code -Dkamille.fuzz.seed=…} to look elsewhere. */
  static final long SEED = FuzzBudget.SEED;

  @Test
  void requestsReadTheSameHoweverTheyAreCut() {
    fuzz(Corpus.REQUESTS, Transcript::ofRequests);
  }

  @Test
  void responsesReadTheSameHoweverTheyAreCut() {
    fuzz(Corpus.RESPONSES, Transcript::ofResponses);
  }

  @Test
  void headsNearTheirLimitsReadTheSameHoweverTheyAreCut() {
    SplittableRandom random = new SplittableRandom(SEED);
    HeadLimits limits = new HeadLimits(64, 6, 256);
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String octets =
          "\r\n".repeat(random.nextInt(3))
              + "G".repeat(1 + random.nextInt(40))
              + " /"
              + "a".repeat(random.nextInt(90))
              + " HTTP/1.1\r\nHost: a\r\n"
              + ("X: " + "x".repeat(random.nextInt(60)) + "\r\n").repeat(random.nextInt(7))
              + "\r\n";
      assertSame(octets, random, pieces -> Cuts.requestInPieces(limits, pieces));
    }
    budget.report("heads near their limits");
  }

  private static <T> void fuzz(List<String> seeds, Function<List<String>, T> read) {
    SplittableRandom random = new SplittableRandom(SEED);
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      assertSame(Corpus.mutant(seeds, random), random, read);
    }
    budget.report("cuts");
  }

  private static <T> void assertSame(
      String octets, SplittableRandom random, Function<List<String>, T> read) {
    T whole = read(octets, List.of(octets), read);
    assertThat(read(octets, Cuts.oneByOne(octets), read))
        .as("seed %d, one by one: %s", SEED, octets)
        .isEqualTo(whole);
    List<String> pieces = pieces(octets, random);
    assertThat(read(octets, pieces, read)).as("seed %d, cut: %s", SEED, pieces).isEqualTo(whole);
  }

  private static <T> T read(String octets, List<String> pieces, Function<List<String>, T> read) {
    try {
      return read.apply(pieces);
    } catch (RuntimeException thrown) {
      throw new AssertionError("seed " + SEED + ": " + octets, thrown);
    }
  }

  private static List<String> pieces(String octets, SplittableRandom random) {
    List<String> pieces = new ArrayList<>();
    int from = 0;
    while (from < octets.length()) {
      int to = Math.min(octets.length(), from + 1 + random.nextInt(40));
      pieces.add(octets.substring(from, to));
      from = to;
    }
    return pieces;
  }
}
