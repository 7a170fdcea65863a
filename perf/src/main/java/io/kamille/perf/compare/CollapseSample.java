package io.kamille.perf.compare;

import io.kamille.perf.load.Crowd.Outcome;
import java.util.List;

/**
 * What a crowd saw of one server in one round.
 *
 * @param forwarded requests that reached the origin
 * @param behindMicros from the leader's first octet to each follower's, in order; 0 for one that
 *     was first
 * @param lateMicros from the request to the first octet, of those who came while the content was on
 *     its way, in order
 * @param failed how many did not get the right octets
 * @param cpuMicros CPU time of the server
 */
record CollapseSample(
    String server,
    CollapseSituation situation,
    int round,
    long forwarded,
    List<Long> behindMicros,
    List<Long> lateMicros,
    long failed,
    long cpuMicros) {

  /*
   * The leader is the first to ask. Where it has gone without an answer, the first follower to get
   * an octet stands for it.
   */

  static CollapseSample of(
      String server,
      CollapseSituation situation,
      int round,
      List<Outcome> crowd,
      long forwarded,
      long cpuMicros) {
    int late = situation.late(crowd.size());
    List<Outcome> followers = crowd.subList(1, crowd.size() - late);
    long leader =
        crowd.getFirst().isAnswered()
            ? crowd.getFirst().firstNanos()
            : followers.stream().mapToLong(Outcome::firstNanos).min().orElse(0);
    List<Long> behind =
        followers.stream()
            .filter(Outcome::isAnswered)
            .map(one -> Math.max(0, one.firstNanos() - leader) / 1000)
            .sorted()
            .toList();
    List<Long> waited =
        crowd.subList(crowd.size() - late, crowd.size()).stream()
            .filter(Outcome::isAnswered)
            .map(one -> (one.firstNanos() - one.sentNanos()) / 1000)
            .sorted()
            .toList();
    long failed = crowd.stream().filter(one -> one.failure() != null).count();
    return new CollapseSample(
        server, situation, round, forwarded, behind, waited, failed, cpuMicros);
  }

  double behindMillis(double percentile) {
    return percentile(behindMicros, percentile) / 1e3;
  }

  double lateMillis(double percentile) {
    return percentile(lateMicros, percentile) / 1e3;
  }

  /** The least value that so many per cent do not exceed; NaN if there are none. */
  private static double percentile(List<Long> sorted, double percentile) {
    if (sorted.isEmpty()) {
      return Double.NaN;
    }
    int rank = (int) Math.ceil(percentile / 100 * sorted.size());
    return sorted.get(Math.max(1, rank) - 1);
  }
}
