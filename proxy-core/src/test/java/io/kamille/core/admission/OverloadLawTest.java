package io.kamille.core.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The law on a model of one loop: clients with one request each under way, which think again once
 * they are answered; a hit takes 10 µs, a miss 40 µs, a shed request 6 µs.
 */
class OverloadLawTest {

  private static final double TARGET = 0.005;
  private static final double WINDOW = 0.1;

  @Test
  void atThreeTimesTheCapacityNineTenthsOfItAreUsed() {
    Model model = new Model(5000, 3, 0.3);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.9);
    assertThat(model.lateShare(0.02)).isLessThan(0.01);
    assertThat(model.shedHits).isZero();
  }

  @Test
  void whereAllAreMissesTheyAreShedTillTheLoopIsInTime() {
    Model model = new Model(2000, 3, 1);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.9);
    assertThat(model.lateShare(0.02)).isLessThan(0.01);
  }

  @Test
  void whereAllAreHitsTheyAreShedToo() {
    Model model = new Model(20_000, 3, 0);
    model.run();
    assertThat(model.goodput()).isGreaterThan(0.8);
    assertThat(model.shedHits).isPositive();
    assertThat(model.lateShare(0.06)).isLessThan(0.01);
  }

  @Test
  void belowTheCapacityNothingIsShed() {
    Model model = new Model(20_000, 0.8, 0.3);
    model.run();
    assertThat(model.sheds).isZero();
    assertThat(model.goodput()).isGreaterThan(0.75);
  }

  @Test
  void theShareFallsToNothingOnceTheLoopIsInTime() {
    OverloadLaw law = new OverloadLaw(100);
    for (int i = 0; i < 1000; i++) {
      law.window(1_000_000);
    }
    assertThat(law.share()).isEqualTo(OverloadLaw.MOST);
    for (int i = 0; i < 100; i++) {
      law.window(0);
    }
    assertThat(law.share()).isZero();
  }

  private static final class Model {

    private static final double HIT = 10e-6;
    private static final double MISS = 40e-6;
    private static final double SHED = 6e-6;
    private static final double END = 8;
    private static final double MEASURED_FROM = 4;

    private final PriorityQueue<Double> asking = new PriorityQueue<>();
    private final SplittableRandom random = new SplittableRandom(7);
    private final OverloadLaw law = new OverloadLaw((long) (TARGET * 1e9));
    private final double ratePerClient;
    private final double missShare;
    private double now;
    private double work;
    private long[] latencyMillis = new long[10_000];
    private long answered;
    private long sheds;
    private long shedHits;

    Model(int clients, double load, double missShare) {
      this.missShare = missShare;
      double mean = HIT * (1 - missShare) + MISS * missShare;
      ratePerClient = load / mean / clients;
      for (int i = 0; i < clients; i++) {
        asking.add(thought());
      }
    }

    private double thought() {
      return -Math.log(1 - random.nextDouble()) / ratePerClient;
    }

    void run() {
      double windowStart = 0;
      double least = Double.MAX_VALUE;
      while (now < END) {
        least = Math.min(least, turn());
        if (now - windowStart >= WINDOW) {
          law.window((long) (least * 1e9));
          windowStart = now;
          least = Double.MAX_VALUE;
        }
      }
    }

    /** Answers all who ask when it begins; how late it was for the last one. */
    private double turn() {
      now = Math.max(now, asking.element());
      double start = now;
      double last = now;
      int batch = 0;
      double[] arrivals = new double[asking.size()];
      while (!asking.isEmpty() && asking.element() <= start) {
        arrivals[batch++] = asking.remove();
      }
      for (int i = 0; i < batch; i++) {
        last = now;
        answer(arrivals[i]);
      }
      return last - start;
    }

    private void answer(double arrival) {
      boolean miss = random.nextDouble() < missShare;
      double share = miss ? law.share() : law.share() - 1;
      if (random.nextDouble() < share) {
        now += SHED;
        sheds++;
        shedHits += miss ? 0 : 1;
        asking.add(now + Math.max(thought(), 0.5 + random.nextDouble()));
        return;
      }
      double cost = miss ? MISS : HIT;
      now += cost;
      asking.add(now + thought());
      if (now > MEASURED_FROM) {
        work += cost;
        answered++;
        latencyMillis[(int) Math.min(latencyMillis.length - 1, (now - arrival) * 1000)]++;
      }
    }

    double goodput() {
      return work / (now - MEASURED_FROM);
    }

    double lateShare(double limit) {
      long late = 0;
      for (int i = (int) (limit * 1000); i < latencyMillis.length; i++) {
        late += latencyMillis[i];
      }
      return (double) late / answered;
    }
  }
}
