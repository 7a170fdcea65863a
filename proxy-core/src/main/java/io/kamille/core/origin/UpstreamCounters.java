package io.kamille.core.origin;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.Histogram;
import java.util.List;
import java.util.Map;

/** What one loop counts of an upstream. Confined to its loop; sums are read from the registry. */
public final class UpstreamCounters {

  /** What one loop counts of an origin. */
  record OfOrigin(Counter requests, Counter opened, Counter closed, Counter ejections) {}

  /**
   * What one loop counts, whichever handlers of the upstream it has.
   *
   * @param failures one for each kind
   * @param origins by their names
   */
  record OfLoop(
      Counter retries,
      Counter hedges,
      Histogram headTime,
      Map<ErrorType, Counter> failures,
      Map<String, OfOrigin> origins) {}

  private final OfLoop loop;
  private final OfOrigin[] origins;

  /** Counts for the origins of a handler, by their places. */
  UpstreamCounters(OfLoop loop, List<OfOrigin> origins) {
    this.loop = loop;
    this.origins = origins.toArray(OfOrigin[]::new);
  }

  /** A request goes to the origin at {@code place}. */
  public void request(int place) {
    origins[place].requests().increment();
  }

  public void retry() {
    loop.retries().increment();
  }

  public void hedge() {
    loop.hedges().increment();
  }

  /** The origin at {@code place} was put out. */
  public void ejected(int place) {
    origins[place].ejections().increment();
  }

  /** A response head is complete, so long after the request was given to the connection. */
  public void head(long nanos) {
    loop.headTime().record(nanos);
  }

  @SuppressWarnings("NullAway") // every kind has its counter
  public void failure(Failure why) {
    loop.failures().get(why.kind()).increment();
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
