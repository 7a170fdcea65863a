package io.kamille.perf.lab;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.wan.WanStats;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What one server did in one cell.
 *
 * @param due requests each second
 * @param replies each second, and their standard deviation between seconds
 * @param failed of the requests that count
 * @param userMicros processor time of the server for each right reply, the whole run taken together
 * @param clientLateMicros how late requests were sent, at the 99th percentile
 * @param isClientLimited whether the client was at its own limit
 * @param wan what the emulator did
 */
record LossyPoint(
    String server,
    LossyPath path,
    double due,
    double replies,
    double deviation,
    long failed,
    double meanMillis,
    double p50Millis,
    double p99Millis,
    double userMicros,
    double kernelMicros,
    double clientLateMicros,
    boolean isClientLimited,
    Wan wan) {

  private static final double LATE_LIMIT_MICROS = 1000;
  private static final double CPU_LIMIT = 0.9;

  /**
   * The emulator's own part.
   *
   * @param lateMicros packets were handed over so much later than due, at the 99th percentile
   * @param cpuShare of a core
   * @param lostShare of the packets, by its order
   * @param overflowed at the end of the link's queue
   * @param dropped by it or its devices, against its order
   */
  record Wan(double lateMicros, double cpuShare, double lostShare, long overflowed, long dropped) {

    static Wan of(WanStats stats, long droppedByDevices) {
      WanStats.Link link = stats.links().getFirst();
      long offered = link.down().offered() + link.up().offered();
      long lost = link.down().lost() + link.up().lost();
      return new Wan(
          stats.latenessP99Nanos() / 1e3,
          stats.cpuShare(),
          offered == 0 ? 0 : (double) lost / offered,
          link.down().overflowed() + link.up().overflowed(),
          stats.unheld() + stats.refused() + droppedByDevices);
    }

    /** Whether the path was not what it was to be. */
    boolean isDisturbed() {
      return lateMicros > LATE_LIMIT_MICROS
          || cpuShare > CPU_LIMIT
          || overflowed > 0
          || dropped > 0;
    }
  }

  static final String TITLES =
      "server,object_bytes,rtt_ms,loss_percent,rate,due_per_second,replies_per_second,deviation,failed,mean_ms,p50_ms,"
          + "p99_ms,user_micros,kernel_micros,client_late_p99_micros,client_limited,"
          + "emulator_late_p99_micros,emulator_cpu_share,lost_share,overflowed,dropped";

  static LossyPoint of(
      String server,
      LossyPath path,
      double due,
      LossyReplies replies,
      LoadResult load,
      CpuTime cpu,
      Wan wan) {
    double completed = Math.max(1, load.completed());
    return new LossyPoint(
        server,
        path,
        due,
        replies.ratePerSecond(),
        replies.rateDeviation(),
        replies.failed(),
        replies.meanMillis(),
        replies.millis(50),
        replies.millis(99),
        cpu.userMicros() / completed,
        cpu.kernelMicros() / completed,
        load.latenessMicros(99),
        load.isSaturated(),
        wan);
  }

  /** Replies among what was due. */
  double answeredShare() {
    return due == 0 ? 0 : replies / due;
  }

  /** Of the core of the server, 0 to 1. */
  double cpuShare() {
    return (userMicros + kernelMicros) * replies / 1e6;
  }

  /** Whether the figures say as much about client and emulator as about the server. */
  boolean isDisturbed() {
    return isClientLimited || wan.isDisturbed();
  }

  String line() {
    return Stream.of(
            server,
            path.objectBytes(),
            path.roundTripMillis(),
            path.lossPercent(),
            path.rate(),
            text(due),
            text(replies),
            text(deviation),
            failed,
            text(meanMillis),
            text(p50Millis),
            text(p99Millis),
            text(userMicros),
            text(kernelMicros),
            text(clientLateMicros),
            isClientLimited,
            text(wan.lateMicros()),
            text(wan.cpuShare()),
            text(wan.lostShare()),
            wan.overflowed(),
            wan.dropped())
        .map(Objects::toString)
        .collect(Collectors.joining(","));
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
