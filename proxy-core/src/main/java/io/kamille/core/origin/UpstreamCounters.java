package io.kamille.core.origin;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.Histogram;
import java.util.Map;

/** What one loop counts of an upstream. Confined to its loop; sums are read from the registry. */
public final class UpstreamCounters {

  /** What one loop counts of an origin. */
  record OriginCounters(Counter requests, Counter opened, Counter closed, Counter ejections) {}

  private final OriginCounters[] origins;
  private final Counter retries;
  private final Counter hedges;
  private final Histogram headTime;
  private final Map<Kind, Counter> failures;

  /**
   * Counts with these.
   *
   * @param origins by their places
   * @param failures one for each kind
   */
  UpstreamCounters(
      OriginCounters[] origins,
      Counter retries,
      Counter hedges,
      Histogram headTime,
      Map<Kind, Counter> failures) {
    this.origins = origins;
    this.retries = retries;
    this.hedges = hedges;
    this.headTime = headTime;
    this.failures = failures;
  }

  /** A request goes to the origin at {@code place}. */
  public void request(int place) {
    origins[place].requests().increment();
  }

  public void retry() {
    retries.increment();
  }

  public void hedge() {
    hedges.increment();
  }

  /** The origin at {@code place} was put out. */
  public void ejected(int place) {
    origins[place].ejections().increment();
  }

  /** A response head is complete, so long after the request was given to the connection. */
  public void head(long nanos) {
    headTime.record(nanos);
  }

  @SuppressWarnings("NullAway") // every kind has its counter
  public void failure(Failure why) {
    failures.get(why.kind()).increment();
  }

  /** Connections opened to the origin at {@code place}. */
  public Counter opened(int place) {
    return origins[place].opened();
  }

  /** Connections closed to the origin at {@code place}. */
  public Counter closed(int place) {
    return origins[place].closed();
  }
}
