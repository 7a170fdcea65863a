package io.kamille.cache.coding;

import io.kamille.core.http.ContentCoding;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What the workers that compress have done. Any thread. */
public final class CodingMetrics {

  public static final MetricDescriptor CODED =
      MetricDescriptor.counter(
          "kamille_cache_compressions_total",
          "Compressions of stored responses, by content coding and outcome. useless: saved less"
              + " than a tenth. replaced: the response left the store meanwhile.",
          "coding",
          "outcome");

  public static final MetricDescriptor READ =
      MetricDescriptor.counter(
          "kamille_cache_compressed_input_bytes_total",
          "Content of responses whose compressed form was kept, before compression.",
          "coding");

  public static final MetricDescriptor WRITTEN =
      MetricDescriptor.counter(
          "kamille_cache_compressed_output_bytes_total", "The same content, compressed.", "coding");

  public static final MetricDescriptor REFUSED =
      MetricDescriptor.counter(
          "kamille_cache_compressions_refused_total",
          "Responses that were not compressed because too many waited for it, or were just being"
              + " compressed on their way.");

  public static final MetricDescriptor CPU =
      MetricDescriptor.counter(
          "kamille_cache_compression_cpu_seconds_total", "Processor time that compressing took.");

  /** How the coding of one response ended. */
  enum Outcome {
    KEPT,
    USELESS,
    NO_MEMORY,
    REPLACED,
    FAILED;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private static final double NANOS_PER_SECOND = 1e9;

  private final Map<ContentCoding, Map<Outcome, LongAdder>> outcomes =
      new EnumMap<>(ContentCoding.class);
  private final Map<ContentCoding, LongAdder> read = new EnumMap<>(ContentCoding.class);
  private final Map<ContentCoding, LongAdder> written = new EnumMap<>(ContentCoding.class);
  private final LongAdder refused = new LongAdder();
  private final LongAdder cpuNanos = new LongAdder();

  CodingMetrics(MetricRegistry registry) {
    for (ContentCoding coding : ContentCoding.values()) {
      Map<Outcome, LongAdder> own = new EnumMap<>(Outcome.class);
      for (Outcome outcome : Outcome.values()) {
        own.put(outcome, counted(registry, CODED, coding.token(), outcome.label()));
      }
      outcomes.put(coding, own);
      read.put(coding, counted(registry, READ, coding.token()));
      written.put(coding, counted(registry, WRITTEN, coding.token()));
    }
    registry.counting(REFUSED, refused::sum);
    registry.counting(CPU, () -> cpuNanos.sum() / NANOS_PER_SECOND);
  }

  private static LongAdder counted(
      MetricRegistry registry, MetricDescriptor descriptor, String... labels) {
    LongAdder adder = new LongAdder();
    registry.counting(descriptor, adder::sum, labels);
    return adder;
  }

  @SuppressWarnings("NullAway") // every coding and outcome has its adder
  void ended(ContentCoding coding, Outcome outcome) {
    outcomes.get(coding).get(outcome).increment();
  }

  @SuppressWarnings("NullAway") // every coding has its adders
  void kept(ContentCoding coding, long inputBytes, long outputBytes) {
    ended(coding, Outcome.KEPT);
    read.get(coding).add(inputBytes);
    written.get(coding).add(outputBytes);
  }

  void refused() {
    refused.increment();
  }

  void worked(long nanos) {
    cpuNanos.add(nanos);
  }
}
