package io.kamille.admin.api;

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
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/traces}: the ways of single requests, step by step. */
final class TraceResources {

  private static final String PATH = "/v1/traces";
  private static final int LISTED = 100;
  private static final int MOST_LISTED = 1000;
  private static final int MOST_ORDERED = 20;
  private static final int LONGEST_SECONDS = 600;
  private static final String EXPECTED =
      "The content must be an object with url (a URL, or the beginning of a path), and perhaps"
          + " count (1 to 20) and seconds (1 to 600).";

  private TraceResources() {}

  static List<Resource> of(Tracing tracing, WallClock clock) {
    return List.of(
        new Listed(tracing, clock),
        new Ordering(tracing, clock),
        new Cancelling(tracing, clock),
        new Single(tracing));
  }

  /** What is open, and what was recorded lately. */
  record Document(
      double ratio, int perSecond, boolean exported, @Nullable Open order, List<Row> traces) {}

  private record Open(String host, String path, int count, int left, long secondsLeft) {}

  private record Row(
      String trace,
      String cause,
      String time,
      double millis,
      String method,
      String url,
      int status,
      String cache,
      int steps) {

    static Row of(RequestTrace trace) {
      RequestSample request = trace.request();
      return new Row(
          trace.ids().trace(),
          trace.cause().token(),
          begun(request),
          inMillis(request.durationNanos()),
          request.method(),
          request.url(),
          request.status(),
          request.cache(),
          trace.steps().size());
    }
  }

  private record Exchanges(String trace, List<Exchanged> exchanges) {}

  private record Exchanged(
      String span,
      String parent,
      String originSpan,
      String cause,
      String time,
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
      String client,
      List<Step> steps) {

    static Exchanged of(RequestTrace trace, boolean showsQuery) {
      RequestSample request = trace.request();
      return new Exchanged(
          trace.ids().span(),
          trace.ids().parent(),
          trace.ids().origin(),
          trace.cause().token(),
          begun(request),
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
          request.client(),
          trace.steps().stream().map(mark -> Step.of(mark, trace.startNanos())).toList());
    }
  }

  /** Milliseconds count from the complete head of the request. */
  private record Step(String step, double atMillis, String detail) {

    static Step of(Trace.Mark mark, long startNanos) {
      return new Step(mark.step().token(), inMillis(mark.nanos() - startNanos), mark.detail());
    }
  }

  private static String begun(RequestSample request) {
    return Instant.ofEpochMilli(request.startEpochMillis()).toString();
  }

  private static double inMillis(long nanos) {
    return Math.round(nanos / 1e3) / 1e3;
  }

  private static Answer present(AdminRequest request, Tracing tracing, WallClock clock, int limit) {
    TraceOrder order = tracing.order();
    return Answer.json(
        new Document(
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
            tracing.traces().stream().sorted(newestFirst()).limit(limit).map(Row::of).toList()));
  }

  private static Comparator<RequestTrace> newestFirst() {
    return Comparator.<RequestTrace>comparingLong(trace -> trace.request().startEpochMillis())
        .reversed();
  }

  /** {@code GET}: the last ones. */
  private record Listed(Tracing tracing, WallClock clock) implements Resource {

    @Override
    public Operation operation() {
      return Operation.get(
              PATH, Scope.READ, "Requests that were recorded step by step, the newest first.")
          .may("limit", "How many at the most: 1 to 1000, 100 if it is not there.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      return present(
          request,
          tracing,
          clock,
          Query.of(request, operation()).number("limit", LISTED, MOST_LISTED));
    }
  }

  /** {@code POST}: the next requests of a kind. */
  private record Ordering(Tracing tracing, WallClock clock) implements Resource {

    private static final Pattern TARGET =
        Pattern.compile("(?:https?://([^/?#\\s]{1,255}))?(/\\S*)?");
    private static final Set<String> MEMBERS = Set.of("url", "count", "seconds");
    private static final int USUAL_COUNT = 1;
    private static final int USUAL_SECONDS = 60;

    @Override
    public Operation operation() {
      return Operation.post(PATH, Scope.OPERATE, "Records the next requests whose URL begins so.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      JsonNode document = JsonContent.of(request);
      if (!document.isObject()
          || !MEMBERS.containsAll(document.propertyNames())
          || !document.path("url").isString()) {
        throw new InvalidRequest(EXPECTED);
      }
      Matcher target = TARGET.matcher(document.path("url").stringValue());
      if (!target.matches()) {
        throw new InvalidRequest(EXPECTED);
      }
      String path = target.group(2) == null ? "/" : target.group(2);
      int count = number(document, "count", USUAL_COUNT, MOST_ORDERED);
      int seconds = number(document, "seconds", USUAL_SECONDS, LONGEST_SECONDS);
      tracing.order(target.group(1), path, count, Duration.ofSeconds(seconds).toNanos());
      return present(request, tracing, clock, LISTED);
    }

    private static int number(JsonNode document, String name, int usual, int most)
        throws InvalidRequest {
      JsonNode value = document.path(name);
      if (value.isMissingNode()) {
        return usual;
      }
      if (!value.isInt() || value.intValue() < 1 || value.intValue() > most) {
        throw new InvalidRequest(EXPECTED);
      }
      return value.intValue();
    }
  }

  /** {@code DELETE}: no more of them. */
  private record Cancelling(Tracing tracing, WallClock clock) implements Resource {

    @Override
    public Operation operation() {
      return Operation.delete(PATH, Scope.OPERATE, "Records no more than the settings say.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
      tracing.cancelOrder();
      return present(request, tracing, clock, LISTED);
    }
  }

  /** {@code GET} of one: the steps of all exchanges that belong to it. */
  private record Single(Tracing tracing) implements Resource {

    @Override
    public Operation operation() {
      return Operation.get(PATH + "/{trace}", Scope.READ, "The way of a request, step by step.")
          .answers(Exchanges.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
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
  }
}
