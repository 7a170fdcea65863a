package io.kamille.perf.wan;

import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.report.Table;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How exact the path emulator is on this machine: round-trip times, losses, and a bulk load over
 * many connections, each beside what was set.
 */
public final class WanCheck {

  private static final int PINGS = 1000;
  private static final int LOSS_PINGS = 20_000;
  private static final int SPACE_MICROS = 1200;
  private static final int LOSS_SPACE_MICROS = 50;
  private static final int BULK_LINKS = 20;
  private static final int BULK_CONNECTIONS = 2000;
  private static final int BULK_SECONDS = 5;
  private static final double WIRE_SHARE = 1448.0 / 1500;

  private final Namespaces spaces;

  private WanCheck(Namespaces spaces) {
    this.spaces = spaces;
  }

  /** Measures and prints tables; removes what it made. */
  public static void run() throws IOException, InterruptedException {
    try (var spaces = Namespaces.open()) {
      var check = new WanCheck(spaces);
      System.out.println("load average " + HostFingerprint.loadAverage());
      check.roundTrips();
      check.losses();
      check.bulk();
    }
  }

  private void roundTrips() throws IOException, InterruptedException {
    var table =
        new Table(
            "round trip set", "error p50 µs", "p99 µs", "emulator late p50 µs", "p99 µs", "CPU");
    for (int millis : new int[] {1, 10, 50, 100}) {
      LinkSettings link = LinkSettings.symmetric("path", "delay=" + millis * 500 + "us");
      try (var wan = WanEmulator.start(spaces, List.of(link), WanEmulator.Options.seeded(1))) {
        long[] times = ping(wan, PINGS, SPACE_MICROS);
        WanStats stats = wan.stats();
        table.row(
            List.of(
                millis + " ms",
                micros(times[times.length / 2] - millis * 1_000_000L),
                micros(times[times.length * 99 / 100] - millis * 1_000_000L),
                micros(stats.latenessP50Nanos()),
                micros(stats.latenessP99Nanos()),
                percent(stats.cpuShare())));
      }
    }
    System.out.println(table);
  }

  /** Sorted times of those that came back. */
  private long[] ping(WanEmulator wan, int count, int micros)
      throws IOException, InterruptedException {
    Process echo = start(spaces.atServer(peer("echo")));
    try (BufferedReader printed = echo.inputReader()) {
      awaitReady(printed);
      String space = Integer.toString(micros);
      read(spaces.atClient(peer("ping", "1", "200", space)));
      wan.forgetLateness();
      return read(spaces.atClient(peer("ping", "1", Integer.toString(count), space)))
          .mapToLong(Long::parseLong)
          .filter(nanos -> nanos >= 0)
          .sorted()
          .toArray();
    } finally {
      echo.destroyForcibly().waitFor();
    }
  }

  private void losses() throws IOException, InterruptedException {
    var table = new Table("loss set", "lost", "of packets", "same packets twice");
    for (String loss : List.of("loss=1%", "loss=4%", "bursts=0.337%/33.3%/100%")) {
      var link = new LinkSettings("path", PathSettings.NONE, PathSettings.NONE.with(loss));
      WanStats.Way first = loss(link);
      WanStats.Way second = loss(link);
      boolean isSame = first.offered() == second.offered() && first.digest() == second.digest();
      table.row(
          List.of(
              percent(link.up().loss().share()),
              percent((double) first.lost() / first.offered()),
              Long.toString(first.offered()),
              isSame ? "yes" : "no"));
    }
    System.out.println(table);
  }

  private WanStats.Way loss(LinkSettings link) throws IOException, InterruptedException {
    try (var wan = WanEmulator.start(spaces, List.of(link), WanEmulator.Options.seeded(7))) {
      ping(wan, LOSS_PINGS, LOSS_SPACE_MICROS);
      return wan.stats().links().getFirst().up();
    }
  }

  private void bulk() throws IOException, InterruptedException {
    var table =
        new Table("links", "connections", "Mbit/s set", "got", "late p99 µs", "CPU", "lost inside");
    for (int rate : new int[] {5, 10, 18}) {
      List<LinkSettings> links =
          IntStream.range(0, BULK_LINKS)
              .mapToObj(
                  i ->
                      new LinkSettings(
                          "link" + i,
                          PathSettings.NONE.with("delay=10ms queue=150k rate=" + rate + "mbit"),
                          PathSettings.NONE.with("delay=10ms")))
              .toList();
      try (var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(1))) {
        double megabits = drink();
        WanStats stats = wan.stats();
        table.row(
            List.of(
                Integer.toString(BULK_LINKS),
                Integer.toString(BULK_CONNECTIONS),
                String.format(Locale.ROOT, "%.0f", BULK_LINKS * rate * WIRE_SHARE),
                String.format(Locale.ROOT, "%.0f", megabits),
                micros(stats.latenessP99Nanos()),
                percent(stats.cpuShare()),
                Long.toString(stats.unheld() + stats.refused() + spaces.droppedByDevices())));
      }
    }
    System.out.println(table);
  }

  private double drink() throws IOException, InterruptedException {
    Process pour = start(spaces.atServer(peer("pour")));
    try (BufferedReader printed = pour.inputReader()) {
      awaitReady(printed);
      List<String> command =
          peer(
              "drink",
              Integer.toString(BULK_LINKS),
              Integer.toString(BULK_CONNECTIONS),
              Integer.toString(BULK_SECONDS));
      String[] numbers = read(spaces.atClient(command)).findFirst().orElse("0 1").split(" ", 2);
      return Long.parseLong(numbers[0]) * 8e3 / Long.parseLong(numbers[1]);
    } finally {
      pour.destroyForcibly().waitFor();
    }
  }

  private static List<String> peer(String... words) {
    List<String> options = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    return Jvm.command(WanPeer.class, options, List.of(words));
  }

  private static Process start(List<String> command) throws IOException {
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void awaitReady(BufferedReader printed) throws IOException {
    if (printed.readLine() == null) {
      throw new IOException("a helper process of the check did not start");
    }
  }

  private static Stream<String> read(List<String> command)
      throws IOException, InterruptedException {
    Process process = start(command);
    List<String> lines = process.inputReader().readAllAsString().lines().toList();
    if (process.waitFor() != 0) {
      throw new IOException("a helper process of the check failed");
    }
    return lines.stream();
  }

  private static String micros(long nanos) {
    return String.format(Locale.ROOT, "%.0f", nanos / 1e3);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f %%", share * 100);
  }
}
