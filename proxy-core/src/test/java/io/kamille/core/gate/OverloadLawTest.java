package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The law by itself, and on a model of one loop with users who want something now and then. */
class OverloadLawTest {

  private static final long MILLI = 1_000_000;
  private static final long TARGET = 5 * MILLI;
  private static final int USERS = 4000;

  @Test
  void atThreeTimesTheCapacityNineTenthsOfItAreUsedAndAnswersComeSoon() {
    Model model = new Model(3, 0, false);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.92);
    assertThat(model.lateShare(3 * TARGET)).isLessThan(0.01);
  }

  @Test
  void missesAreShedBeforeHits() {
    Model model = new Model(3, 0.3, false);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.92);
    assertThat(model.lateShare(3 * TARGET)).isLessThan(0.01);
    assertThat(model.shedHits).isLessThan(model.sheds / 20);
  }

  @Test
  void whereAllAreMissesTheyAreShedTillTheLoopIsInTime() {
    Model model = new Model(3, 1, false);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.92);
    assertThat(model.lateShare(3 * TARGET)).isLessThan(0.01);
  }

  @Test
  void ofUsersWhoDoNotWaitWhenToldToMostOfTheCapacityIsUsedStill() {
    Model model = new Model(3, 0, true);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.85);
  }

  @Test
  void slightlyAboveTheCapacityLittleIsShed() {
    Model model = new Model(1.1, 0, false);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.95);
    assertThat(model.lateShare(3 * TARGET)).isLessThan(0.01);
  }

  @Test
  void belowTheCapacityNothingIsShed() {
    Model model = new Model(0.8, 0.3, false);
    model.run();
    assertThat(model.sheds).isZero();
    assertThat(model.goodput()).isGreaterThan(0.75);
  }

  @Test
  void pausesAtLightLoadDoNotKeepAnOverloadGoing() {
    Model model = new Model(3, 0, false);
    model.lighten(0.5);
    model.run();
    assertThat(model.shedsMeasured).isZero();
    assertThat(model.goodput()).isGreaterThan(0.45);
  }

  @Test
  void whenItBeginsTurnsMayLastAsLongAsTheyDidAndThenLess() {
    OverloadLaw law = new OverloadLaw(TARGET, 0);
    long now = turns(law, 0, 3, 100 * MILLI);
    assertThat(law.isOverloaded()).isTrue();
    assertThat(law.sheds(100 * MILLI)).isFalse();
    now = turns(law, now, 5, 100 * MILLI);
    assertThat(law.sheds(49 * MILLI)).isFalse();
    assertThat(law.sheds(51 * MILLI)).isTrue();
    turns(law, now, 30, 100 * MILLI);
    assertThat(law.sheds(TARGET)).isFalse();
    assertThat(law.sheds(TARGET + 1)).isTrue();
    assertThat(law.shedsForward(TARGET / 2)).isFalse();
    assertThat(law.shedsForward(TARGET / 2 + 1)).isTrue();
  }

  @Test
  void itIsOverWhenForTwoSecondsEachWindowHadAShortTurn() {
    OverloadLaw law = new OverloadLaw(TARGET, 0);
    long now = turns(law, 0, 3, 100 * MILLI);
    now = turns(law, now, 12, 0);
    now = turns(law, now, 3, TARGET);
    now = turns(law, now, 18, 0);
    assertThat(law.isOverloaded()).isTrue();
    turns(law, now, 3, 0);
    assertThat(law.isOverloaded()).isFalse();
    assertThat(law.sheds(Long.MAX_VALUE)).isFalse();
  }

  /** Turns that begin every 100 ms. */
  private static long turns(OverloadLaw law, long from, int count, long lengthNanos) {
    long now = from;
    for (int i = 0; i < count; i++) {
      now += 100 * MILLI;
      law.turn(now, lengthNanos);
    }
    return now;
  }

  /** A request that the kernel shows the loop from then on. */
  private record Shown(long nanos, int user) {}

  /**
   * A loop that takes 50 µs for a hit, 200 µs for a miss and 30 µs for one that is shed. A user has
   * one request under way; what comes due meanwhile waits behind it.
   */
  private static final class Model {

    private static final long HIT = 50_000;
    private static final long MISS = 200_000;
    private static final long SHED = 30_000;
    private static final long SECOND = 1000 * MILLI;
    private static final long END = 12 * SECOND;
    private static final long LIGHT_FROM = 2 * SECOND;
    private static final long MEASURED_FROM = 6 * SECOND;

    private final PriorityQueue<Shown> shown =
        new PriorityQueue<>(Comparator.comparingLong(Shown::nanos));
    private final List<ArrayDeque<Long>> waiting =
        Stream.generate(ArrayDeque<Long>::new).limit(USERS).toList();
    private final long[] intended = new long[USERS];
    private final long[] silentUntil = new long[USERS];
    private final long[] heldUntil = new long[USERS];
    private final SplittableRandom random = new SplittableRandom(7);
    private final OverloadLaw law = new OverloadLaw(TARGET, 0);
    private final List<Long> latencies = new ArrayList<>();
    private double meanGap;
    private final double meanCost;
    private double lightGap;
    private boolean hasPauses;
    private long nextPause = LIGHT_FROM;
    private final double missShare;
    private final boolean areRude;
    private long now;
    private long nextArrival;
    private long work;
    private long sheds;
    private long shedsMeasured;
    private long shedHits;

    Model(double load, double missShare, boolean areRude) {
      this.missShare = missShare;
      this.areRude = areRude;
      meanCost = HIT * (1 - missShare) + MISS * missShare;
      meanGap = meanCost / load;
      Arrays.fill(intended, -1);
      nextArrival = gap();
    }

    private long gap() {
      return Math.round(-StrictMath.log(1 - random.nextDouble()) * meanGap);
    }

    void run() {
      while (now < END) {
        long length = turn();
        law.turn(now, length);
      }
    }

    /** After two seconds only so much is asked, and the loop stops for 20 ms in each second. */
    void lighten(double load) {
      lightGap = meanCost / load;
      hasPauses = true;
    }

    /** Answers all who ask when it begins; how late it was for the last one. */
    private long turn() {
      long next = shown.isEmpty() ? nextArrival : Math.min(nextArrival, shown.element().nanos());
      now = Math.max(now, next);
      arrive();
      long start = now;
      long last = now;
      List<Shown> batch = new ArrayList<>();
      while (!shown.isEmpty() && shown.element().nanos() <= start) {
        batch.add(shown.remove());
      }
      for (Shown request : batch) {
        last = now;
        pause();
        answer(request.user(), now - start);
        arrive();
      }
      return last - start;
    }

    private void pause() {
      if (hasPauses && now >= nextPause) {
        meanGap = lightGap;
        now += 20 * MILLI;
        nextPause = now + SECOND;
      }
    }

    private void arrive() {
      while (nextArrival <= now) {
        int user = random.nextInt(USERS);
        if (areRude || nextArrival >= silentUntil[user]) {
          waiting.get(user).add(nextArrival);
          next(user, nextArrival);
        }
        nextArrival += gap();
      }
    }

    private void next(int user, long nanos) {
      if (intended[user] < 0 && !waiting.get(user).isEmpty()) {
        intended[user] = waiting.get(user).remove();
        shown.add(new Shown(Math.max(nanos, heldUntil[user]), user));
      }
    }

    private void answer(int user, long elapsed) {
      boolean isMiss = random.nextDouble() < missShare;
      if (law.sheds(elapsed) || (isMiss && law.shedsForward(elapsed))) {
        now += SHED;
        shed(user, isMiss);
      } else {
        now += isMiss ? MISS : HIT;
        if (now > MEASURED_FROM) {
          work += isMiss ? MISS : HIT;
          latencies.add(now - intended[user]);
        }
      }
      intended[user] = -1;
      next(user, now);
    }

    private void shed(int user, boolean isMiss) {
      sheds++;
      shedsMeasured += now > MEASURED_FROM ? 1 : 0;
      shedHits += isMiss ? 0 : 1;
      int retryAfter = 1 + random.nextInt(3);
      heldUntil[user] = now + retryAfter * SECOND - random.nextLong(SECOND);
      if (!areRude) {
        silentUntil[user] = now + retryAfter * SECOND;
        waiting.get(user).clear();
      }
    }

    double goodput() {
      return (double) work / (now - MEASURED_FROM);
    }

    double lateShare(long limitNanos) {
      return (double) latencies.stream().filter(nanos -> nanos > limitNanos).count()
          / latencies.size();
    }
  }
}
