package io.kamille.perf.lab;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.WanStats;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * All cells of the grid, and what is said of them. A sample's situation is the rate, its server one
 * at a loss. Any thread.
 */
final class LossyPoints {

  /**
   * The most of its reply rate that a server may lose: what the best of the paper's servers did.
   */
  private static final double GOAL = 0.12;

  private static final double SUSTAINED_SHARE = 0.95;
  private static final double LATE_LIMIT_MICROS = 1000;
  private static final double CPU_LIMIT = 0.9;

  private static final Figure OBJECT = Figure.of("object_bytes");
  private static final Figure ROUND_TRIP = Figure.of("rtt_ms");
  private static final Figure LOSS = Figure.of("loss_percent");
  private static final Figure DUE = Figure.of("due_per_second");
  private static final Figure REPLIES = Figure.of("replies_per_second");

  /** The standard deviation of the replies between seconds. */
  private static final Figure DEVIATION = Figure.of("deviation");

  private static final Figure FAILED = Figure.of("failed");
  private static final Figure MEAN = Figure.of("mean_ms");
  private static final Figure P50 = Figure.of("p50_ms");
  private static final Figure P99 = Figure.of("p99_ms");

  /** Processor time of the server for each right reply, the whole run taken together. */
  private static final Figure USER = Figure.of("user_micros");

  private static final Figure KERNEL = Figure.of("kernel_micros");

  /** Of the core of the server, 0 to 1. */
  private static final Figure CPU =
      new Figure("cpu_share", one -> one.of(USER.plus(KERNEL)) * one.of(REPLIES) / 1e6);

  /** How late requests were sent. */
  private static final Figure CLIENT_LATE = Figure.of("client_late_p99_micros");

  private static final Figure CLIENT_LIMITED = Figure.of("client_limited");

  /** Packets were handed over so much later than due. */
  private static final Figure LATE = Figure.of("emulator_late_p99_micros");

  private static final Figure EMULATOR_CPU = Figure.of("emulator_cpu_share");
  private static final Figure LOST = Figure.of("lost_share");

  /** Packets that found the link's queue full. */
  private static final Figure OVERFLOWED = Figure.of("overflowed");

  /** Packets dropped by the emulator or its devices, against its order. */
  private static final Figure DROPPED = Figure.of("dropped");

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("due/s", DUE, 1),
          Column.median("replies/s", REPLIES, 1),
          Column.median("± (1 s)", DEVIATION, 1),
          Column.sum("failed", FAILED),
          Column.median("mean ms", MEAN, 1),
          Column.median("p50 ms", P50, 1),
          Column.median("p99 ms", P99, 0),
          Column.median("CPU %", CPU.times(100), 0),
          Column.median("user µs/reply", USER, 0),
          Column.median("kernel µs/reply", KERNEL, 0),
          Column.median("client late p99 µs", CLIENT_LATE, 0),
          Column.median("emulator late p99 µs", LATE, 0),
          Column.median("its CPU %", EMULATOR_CPU.times(100), 0),
          Column.median("lost %", LOST.times(100), 2),
          Column.sum("queue full", OVERFLOWED),
          Column.sum("dropped", DROPPED),
          new Column("disturbed", all -> isDisturbed(all.rounds().getFirst()) ? "*" : ""));

  private final Samples all = new Samples("rate", "server");

  Samples all() {
    return all;
  }

  /**
   * What one server did in one cell.
   *
   * @param dropped packets by the devices
   */
  static Sample sample(
      String server,
      LossyPath path,
      double due,
      LossyReplies replies,
      LoadResult load,
      CpuTime cpu,
      WanStats stats,
      long dropped) {
    double completed = Math.max(1, load.completed());
    WanStats.Link link = stats.links().getFirst();
    double offered = Math.max(1, link.down().offered() + link.up().offered());
    return cell(server, path)
        .with(DUE, due)
        .with(REPLIES, replies.ratePerSecond())
        .with(DEVIATION, replies.rateDeviation())
        .with(FAILED, replies.failed())
        .with(MEAN, replies.meanMillis())
        .with(P50, replies.millis(50))
        .with(P99, replies.millis(99))
        .with(USER, cpu.userMicros() / completed)
        .with(KERNEL, cpu.kernelMicros() / completed)
        .with(CLIENT_LATE, load.latenessMicros(99))
        .with(CLIENT_LIMITED, load.isSaturated())
        .with(LATE, stats.latenessP99Nanos() / 1e3)
        .with(EMULATOR_CPU, stats.cpuShare())
        .with(LOST, (link.down().lost() + link.up().lost()) / offered)
        .with(OVERFLOWED, link.down().overflowed() + link.up().overflowed())
        .with(DROPPED, stats.unheld() + stats.refused() + dropped);
  }

  private static Sample cell(String server, LossyPath path) {
    return Sample.of(Integer.toString(path.rate()), name(server, path.lossPercent()), 1)
        .with(OBJECT, path.objectBytes())
        .with(ROUND_TRIP, path.roundTripMillis())
        .with(LOSS, path.lossPercent());
  }

  private static String name(String server, int lossPercent) {
    return server + " at " + lossPercent + " % loss";
  }

  /** Whether the figures say as much about client and emulator as about the server. */
  private static boolean isDisturbed(Sample one) {
    return one.is(CLIENT_LIMITED)
        || one.of(LATE) > LATE_LIMIT_MICROS
        || one.of(EMULATOR_CPU) > CPU_LIMIT
        || one.of(OVERFLOWED) > 0
        || one.of(DROPPED) > 0;
  }

  private static LossyPath path(Sample one) {
    return new LossyPath(
        (int) one.of(OBJECT),
        (int) one.of(ROUND_TRIP),
        (int) one.of(LOSS),
        Integer.parseInt(one.situation()));
  }

  private static boolean isAt(String place, Sample one) {
    return path(one).place().equals(place);
  }

  /** Tables and drawings, for each object and round trip. */
  void report(Report report) {
    for (String place : all.all().stream().map(one -> path(one).place()).distinct().toList()) {
      Samples here = all.where(one -> isAt(place, one));
      String file = place.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
      String across = "requests offered per second";
      report.heading(place).table(here.wholeTable("server", "offered/s", COLUMNS));
      report.plot(
          file + "-replies",
          here.chart(place + ": replies per second", across, "replies/s", REPLIES));
      report.plot(file + "-time", here.chart(place + ": mean reply time", across, "ms", MEAN));
    }
    report.paragraph(
        "A star marks cells in which the client was at its own limit or the path was not what it"
            + " was to be: the emulator late by more than 1 ms at p99 or on a core's limit, a full"
            + " queue, packets dropped against its order.");
    report.heading("What holds today and what does not").items(findings());
  }

  /**
   * How much of its replies a server loses to the loss of packets, at one rate.
   *
   * @param clean on the same path without loss
   */
  record Fall(Sample clean, Sample lossy) {

    /** The part of the reply rate that is gone, 0 to 1; less than 0 if there is more with loss. */
    double share() {
      return answeredShare(clean) == 0 ? 0 : 1 - answeredShare(lossy) / answeredShare(clean);
    }

    private static double answeredShare(Sample one) {
      return one.of(DUE) == 0 ? 0 : one.of(REPLIES) / one.of(DUE);
    }

    /**
     * Whether it says something about the server: without loss it answers what it is asked, and
     * neither client nor emulator was at its limit.
     */
    boolean isSustainable() {
      return answeredShare(clean) >= SUSTAINED_SHARE
          && clean.of(FAILED) == 0
          && !isDisturbed(clean)
          && !isDisturbed(lossy);
    }
  }

  /** The cells of a server at a loss, each beside the one without. */
  List<Fall> falls(String server) {
    return all.all().stream()
        .filter(lossy -> lossy.server().equals(server) && lossy.of(LOSS) > 0)
        .flatMap(
            lossy ->
                all.of(lossy.situation(), withoutLoss(lossy)).stream()
                    .filter(clean -> isAt(path(lossy).place(), clean))
                    .map(clean -> new Fall(clean, lossy)))
        .toList();
  }

  private static String withoutLoss(Sample lossy) {
    String server = lossy.server();
    String ending = name("", path(lossy).lossPercent());
    return name(server.substring(0, server.length() - ending.length()), 0);
  }

  /** For each server and loss, the greatest fall where the load is sustainable. */
  List<String> findings() {
    return all.where(one -> one.of(LOSS) > 0).servers().stream()
        .map(server -> server + ": " + finding(falls(server)))
        .toList();
  }

  private static String finding(List<Fall> all) {
    List<Fall> falls = all.stream().filter(Fall::isSustainable).toList();
    return falls.stream()
        .max(Comparator.comparingDouble(Fall::share))
        .map(
            worst ->
                String.format(
                    Locale.ROOT,
                    "the reply rate falls by %.1f %% at most (%s, %,d requests/s) over %d cells"
                        + " with a sustainable load; the goal of no more than %.0f %% is %s",
                    Math.max(0, worst.share()) * 100,
                    path(worst.lossy()).place(),
                    path(worst.lossy()).rate(),
                    falls.size(),
                    GOAL * 100,
                    worst.share() <= GOAL ? "reached" : "missed"))
        .orElse("no cell with a sustainable load that neither client nor emulator disturbed");
  }
}
