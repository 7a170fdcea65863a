package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The file behind a table: the facts about the machine as comments, then a line per round. */
final class RawData {

  private static final String TITLES =
      "subject,server,round,requests,micros,user_micros,kernel_micros,core_micros,"
          + "p50_micros,p99_micros,p999_micros,resident_bytes,proportional_bytes,allocated_bytes";

  private static final String IDLE_TITLES =
      "server,round,connections,proportional_bytes_before,proportional_bytes_after,"
          + "live_heap_bytes_before,live_heap_bytes_after";

  private RawData() {}

  /** Writes the file, if one was asked for. */
  static void keep(Checkout checkout, @Nullable String name, String csv) throws IOException {
    if (name != null) {
      write(checkout, name + ".csv", csv);
    }
  }

  /** Writes the drawing beside the file, if there is one and one was asked for. */
  static void keepPlot(Checkout checkout, @Nullable String name, Optional<String> svg)
      throws IOException {
    if (name != null && svg.isPresent()) {
      write(checkout, name + ".svg", svg.get());
    }
  }

  private static void write(Checkout checkout, String name, String text) throws IOException {
    Path file = checkout.logData().resolve(name);
    Files.createDirectories(checkout.logData());
    Files.writeString(file, text);
    System.out.println("kept: " + checkout.root().relativize(file));
  }

  static String csv(Map<String, String> facts, List<Sample> samples) {
    return csv(facts, TITLES, samples.stream().map(RawData::line));
  }

  static String csvOfIdle(Map<String, String> facts, List<IdleSample> samples) {
    return csv(facts, IDLE_TITLES, samples.stream().map(RawData::line));
  }

  static String csv(Map<String, String> facts, String titles, Stream<String> lines) {
    Stream<String> comments =
        facts.entrySet().stream().map(fact -> "# " + fact.getKey() + ": " + fact.getValue());
    return Stream.of(comments, Stream.of(titles), lines)
        .flatMap(part -> part)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static String line(Sample sample) {
    return line(
        sample.subject().label(),
        sample.server(),
        sample.round(),
        sample.load().requests(),
        sample.load().micros(),
        sample.cpu().userMicros(),
        sample.cpu().kernelMicros(),
        sample.coreMicros(),
        sample.load().p50Micros(),
        sample.load().p99Micros(),
        sample.load().p999Micros(),
        sample.memory().residentBytes(),
        sample.memory().proportionalBytes(),
        sample.allocatedBytes());
  }

  private static String line(IdleSample sample) {
    return line(
        sample.server(),
        sample.round(),
        sample.connections(),
        sample.before().proportionalBytes(),
        sample.after().proportionalBytes(),
        sample.liveHeapBefore(),
        sample.liveHeapAfter());
  }

  static String line(Object... cells) {
    return Stream.of(cells).map(String::valueOf).collect(Collectors.joining(","));
  }
}
