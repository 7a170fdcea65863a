package io.kamille.admin.api;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.kamille.admin.auth.Scope;
import io.kamille.core.exchange.Trace;
import io.kamille.core.http.StatusCode;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.WallClock;
import io.kamille.core.trace.RequestTrace;
import io.kamille.core.trace.TraceOrder;
import io.kamille.core.trace.Tracing;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Single requests: some of the last ones, and those that were recorded step by step.
 *
 * @param perSecond how many requests of each loop become a sample in a second, at the most
 * @param samples some of the last requests, in no order
 */
public record RequestResources(
    int perSecond, Supplier<List<RequestSample>> samples, Tracing tracing, WallClock clock) {

  private static final String TRACES = "/v1/traces";

  private static final Pattern TARGET = Pattern.compile("(?:https?://([^/?#\\s]{1,255}))?(/\\S*)?");
  private static final String EXPECTED_ORDER =
      "The content must be an object with url (a URL, or the beginning of a path), and perhaps"
          + " count (1 to 20) and seconds (1 to 600).";
  private static final int MOST_ORDERED = 20;
  private static final int USUAL_SECONDS = 60;
  private static final int LONGEST_SECONDS = 600;
  private static final int USUAL = 100;
  private static final int MOST = 1000;
  private static final int LONGEST_MILLIS = 86_400_000;
  private static final double NANOS_PER_MILLI = 1e6;

  /** All of them. */
  public List<Operation> operations() {
    return List.of(
        Operation.get("/v1/requests", Scope.READ, "Some of the last requests, the newest first.")
            .may("status", "A status code, or a class such as 5xx.")
            .may("cache", "What the cache did, such as miss.")
            .may("url", "A part of the URL.")
            .may("minMillis", "The shortest duration, in milliseconds.")
            .may("limit", "How many at the most: 1 to 1000, 100 if it is not there.")
            .answers(Samples.class)
            .by(this::requests),
        Operation.get(
                TRACES, Scope.READ, "Requests that were recorded step by step, the newest first.")
            .may("limit", "How many at the most: 1 to 1000, 100 if it is not there.")
            .answers(Traces.class)
            .by((request, query) -> traces(request, query.number("limit", USUAL, MOST))),
        Operation.post(TRACES, Scope.OPERATE, "Records the next requests whose URL begins so.")
            .answers(Traces.class)
            .by(this::order),
        Operation.delete(TRACES, Scope.OPERATE, "Records no more than the settings say.")
            .answers(Traces.class)
            .by(
                (request, _) -> {
                  tracing.cancelOrder();
                  return traces(request, USUAL);
                }),
        Operation.get("/v1/traces/{trace}", Scope.READ, "The way of a request, step by step.")
            .answers(Exchanges.class)
            .by(this::trace));
  }

  private static double inMillis(long nanos) {
    return Math.round(nanos / 1e3) / 1e3;
  }

  // Some of the last requests

  private Answer requests(AdminRequest request, Query query) throws InvalidRequest {
    String status = status(query.optional("status"));
    String cache = query.optional("cache");
    String url = query.optional("url");
    long least =
        query.optional("minMillis") == null ? 0 : query.number("minMillis", 1, LONGEST_MILLIS);
    int limit = query.number("limit", USUAL, MOST);
    return Answer.json(
        new Samples(
            perSecond,
            samples.get().stream()
                .filter(sample -> status == null || isOf(sample.status(), status))
                .filter(sample -> cache == null || sample.cache().equals(cache))
                .filter(sample -> url == null || sample.url().contains(url))
                .filter(sample -> sample.durationNanos() / NANOS_PER_MILLI >= least)
                .sorted(Comparator.comparingLong(RequestSample::startEpochMillis).reversed())
                .limit(limit)
                .map(sample -> Sample.of(sample, request.showsQueries()))
                .toList()));
  }

  private static @Nullable String status(@Nullable String given) throws InvalidRequest {
    if (given != null && !given.matches("[1-5](xx|[0-9]{2})|0")) {
      throw new InvalidRequest("status is a status code, or a class such as 5xx.");
    }
    return given;
  }

  private static boolean isOf(int status, String wanted) {
    return wanted.endsWith("xx")
        ? status / 100 == wanted.charAt(0) - '0'
        : status == Integer.parseInt(wanted);
  }

  private record Samples(int samplesPerSecond, List<Sample> requests) {}

  private record Sample(String id, @JsonUnwrapped Ended request, String trace) {

    static Sample of(RequestSample sample, boolean showsQuery) {
      String id = String.format(Locale.ROOT, "%d-%d", sample.loop(), sample.number());
      return new Sample(id, Ended.of(sample, showsQuery), sample.trace());
    }
  }

  /** A request that is over. */
  private record Ended(
      Instant time,
      double millis,
      String method,
      String url,
      @Nullable String query,
      int status,
      long contentBytes,
      String cache,
      String failure,
      String route,
      String origin,
      String client) {

    static Ended of(RequestSample request, boolean showsQuery) {
      return new Ended(
          Instant.ofEpochMilli(request.startEpochMillis()),
          inMillis(request.durationNanos()),
          request.method(),
          request.url(),
          showsQuery ? request.query() : null,
          request.status(),
          request.contentBytes(),
          request.cache(),
          request.failure(),
          request.route(),
          request.origin(),
          request.client());
    }
  }

  // Requests that were recorded step by step

  private Answer traces(AdminRequest request, int limit) {
    TraceOrder order = tracing.order();
    return Answer.json(
        new Traces(
            tracing.settings().ratio(),
            tracing.settings().perSecond(),
            tracing.settings().endpoint().isPresent(),
            order == null
                ? null
                : new Open(
                    order.host(),
                    request.shown(order.path()),
                    order.count(),
                    order.left(),
                    Duration.ofNanos(order.leftNanos(clock.nanos())).toSeconds()),
            tracing.traces().stream()
                .sorted(newestFirst())
                .limit(limit)
                .map(trace -> Recorded.of(trace, request.showsQueries()))
                .toList()));
  }

  private static Comparator<RequestTrace> newestFirst() {
    return Comparator.<RequestTrace>comparingLong(trace -> trace.request().startEpochMillis())
        .reversed();
  }

  private record Ordered(
      @Nullable String url, @Nullable Integer count, @Nullable Integer seconds) {}

  private Answer order(AdminRequest request, Query query) throws InvalidRequest {
    Ordered ordered = Json.content(request, Ordered.class, EXPECTED_ORDER);
    Matcher target = TARGET.matcher(Objects.requireNonNullElse(ordered.url, " "));
    if (!target.matches()) {
      throw new InvalidRequest(EXPECTED_ORDER);
    }
    String path = target.group(2) == null ? "/" : target.group(2);
    int count = Json.number(ordered.count, 1, MOST_ORDERED, EXPECTED_ORDER);
    int seconds = Json.number(ordered.seconds, USUAL_SECONDS, LONGEST_SECONDS, EXPECTED_ORDER);
    tracing.order(target.group(1), path, count, Duration.ofSeconds(seconds).toNanos());
    return traces(request, USUAL);
  }

  /** The steps of all exchanges that belong to it. */
  private Answer trace(AdminRequest request, Query query) {
    String id = request.parameter("trace");
    List<Exchanged> exchanges =
        tracing.traces().stream()
            .filter(trace -> trace.ids().trace().equals(id))
            .sorted(newestFirst().reversed())
            .map(trace -> Exchanged.of(trace, request.showsQueries()))
            .toList();
    return exchanges.isEmpty()
        ? Answer.problem(StatusCode.NOT_FOUND, "No such trace is kept.")
        : Answer.json(new Exchanges(id, exchanges));
  }

  private record Traces(
      double ratio, int perSecond, boolean exported, @Nullable Open order, List<Recorded> traces) {}

  private record Open(String host, String path, int count, int left, long secondsLeft) {}

  private record Recorded(String trace, String cause, @JsonUnwrapped Ended request, int steps) {

    static Recorded of(RequestTrace trace, boolean showsQuery) {
      return new Recorded(
          trace.ids().trace(),
          trace.cause().token(),
          Ended.of(trace.request(), showsQuery),
          trace.steps().size());
    }
  }

  private record Exchanges(String trace, List<Exchanged> exchanges) {}

  private record Exchanged(
      String span,
      String parent,
      String originSpan,
      String cause,
      @JsonUnwrapped Ended request,
      List<Step> steps) {

    static Exchanged of(RequestTrace trace, boolean showsQuery) {
      return new Exchanged(
          trace.ids().span(),
          trace.ids().parent(),
          trace.ids().origin(),
          trace.cause().token(),
          Ended.of(trace.request(), showsQuery),
          trace.steps().stream().map(mark -> Step.of(mark, trace.startNanos())).toList());
    }
  }

  /** Milliseconds count from the complete head of the request. */
  private record Step(String step, double atMillis, String detail) {

    static Step of(Trace.Mark mark, long startNanos) {
      return new Step(mark.step().token(), inMillis(mark.nanos() - startNanos), mark.detail());
    }
  }
}
