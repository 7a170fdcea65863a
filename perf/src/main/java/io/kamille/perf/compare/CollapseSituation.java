package io.kamille.perf.compare;

import io.kamille.perf.load.Crowd;
import io.kamille.perf.load.Crowd.Plan;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.OriginTarget.Trait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a crowd asks for and how it behaves.
 *
 * @param label as it stands in tables
 * @param length of the content in octets
 * @param dripBytesPerSecond how fast the origin sends it; 0 for as fast as it can
 * @param leader what the first of the crowd does
 */
record CollapseSituation(String label, int length, int dripBytesPerSecond, Leader leader) {

  /*
   * The first of the crowd asks first, all others right behind it, while the origin thinks. Of
   * content that drips, a tenth of the crowd comes when half of it has been sent. A thousand cannot
   * take 100 MB each from one core: of that, READERS take all and everybody else a share, then
   * goes.
   */

  enum Leader {
    STAYS,
    /** Goes when it has a tenth of the content. */
    LEAVES_MIDWAY,
    /** Goes while the origin still thinks. */
    LEAVES_BEFORE_THE_ANSWER
  }

  static final int THINK_MILLIS = 400;
  private static final int WHOLE_LIMIT = 2_000_000;
  private static final int SHARE_OCTETS = 256 * 1024;
  private static final int READERS = 20;
  private static final int LATE_SHARE = 10;
  private static final long LEADER_GONE_NANOS = TimeUnit.MILLISECONDS.toNanos(THINK_MILLIS / 2);
  private static final int HUNDRED_MB = 100_000_000;

  static final List<CollapseSituation> ALL =
      List.of(
          new CollapseSituation("1 KiB", 1 << 10, 0, Leader.STAYS),
          new CollapseSituation(
              "1 KiB, leader leaves before the answer",
              1 << 10,
              0,
              Leader.LEAVES_BEFORE_THE_ANSWER),
          new CollapseSituation("1 MiB", 1 << 20, 0, Leader.STAYS),
          new CollapseSituation("100 MB dripped", HUNDRED_MB, HUNDRED_MB / 2, Leader.STAYS),
          new CollapseSituation(
              "100 MB dripped, leader leaves midway",
              HUNDRED_MB,
              HUNDRED_MB / 2,
              Leader.LEAVES_MIDWAY));

  /** Those that are short. */
  static final List<CollapseSituation> WARMING = ALL.subList(0, 2);

  /** The target of one round: an object that no server has. */
  OriginTarget target(long object) {
    return OriginTarget.of(object, length)
        .with(Trait.THINK, THINK_MILLIS)
        .with(Trait.DRIP, dripBytesPerSecond);
  }

  /** What each of the crowd does; the leader is the first, and late ones are the last. */
  List<Plan> plans(int count) {
    var plans = new ArrayList<Plan>();
    plans.add(leaderPlan());
    for (int i = 1; i < count; i++) {
      long sendNanos = i < count - late(count) ? 0 : lateNanos();
      plans.add(new Plan(sendNanos, Crowd.NEVER, isReader(i) ? Crowd.NEVER : SHARE_OCTETS));
    }
    return plans;
  }

  private Plan leaderPlan() {
    return switch (leader) {
      case STAYS -> Plan.stay(0);
      case LEAVES_MIDWAY -> new Plan(0, Crowd.NEVER, length / 10);
      case LEAVES_BEFORE_THE_ANSWER -> new Plan(0, LEADER_GONE_NANOS, Crowd.NEVER);
    };
  }

  private boolean isReader(int index) {
    return length <= WHOLE_LIMIT || index < READERS;
  }

  private long lateNanos() {
    long dripNanos = TimeUnit.SECONDS.toNanos(length) / dripBytesPerSecond;
    return TimeUnit.MILLISECONDS.toNanos(THINK_MILLIS) + dripNanos / 2;
  }

  /** How many come while the content is on its way. */
  int late(int count) {
    return dripBytesPerSecond == 0 ? 0 : count / LATE_SHARE;
  }
}
