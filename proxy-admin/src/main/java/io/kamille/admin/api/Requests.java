package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.log.RequestSample;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/requests}: some of the last requests, the newest first. */
final class Requests implements Resource {

  private static final Operation OPERATION =
      Operation.get("/v1/requests", Scope.READ, "Some of the last requests, the newest first.")
          .may("status", "A status code, or a class such as 5xx.")
          .may("cache", "What the cache did, such as miss.")
          .may("url", "A part of the URL.")
          .may("minMillis", "The shortest duration, in milliseconds.")
          .may("limit", "How many at the most: 1 to 1000, 100 if it is not there.")
          .answers(Document.class);

  private static final int USUAL = 100;
  private static final int MOST = 1000;
  private static final int LONGEST_MILLIS = 86_400_000;
  private static final double NANOS_PER_MILLI = 1e6;

  private final ApplianceView appliance;

  Requests(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return OPERATION;
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    Query query = Query.of(request, OPERATION);
    String status = status(query.optional("status"));
    String cache = query.optional("cache");
    String url = query.optional("url");
    long least =
        query.optional("minMillis") == null ? 0 : query.number("minMillis", 1, LONGEST_MILLIS);
    int limit = query.number("limit", USUAL, MOST);
    return Answer.json(
        new Document(
            appliance.samplesPerSecond(),
            appliance.requests().stream()
                .filter(sample -> status == null || isOf(sample.status(), status))
                .filter(sample -> cache == null || sample.cache().equals(cache))
                .filter(sample -> url == null || sample.url().contains(url))
                .filter(sample -> sample.durationNanos() / NANOS_PER_MILLI >= least)
                .sorted(Comparator.comparingLong(RequestSample::startEpochMillis).reversed())
                .limit(limit)
                .map(sample -> Row.of(sample, request.showsQueries()))
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

  private record Document(int samplesPerSecond, List<Row> requests) {}

  private record Row(
      String id,
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
      String trace) {

    static Row of(RequestSample sample, boolean showsQuery) {
      return new Row(
          String.format(Locale.ROOT, "%d-%d", sample.loop(), sample.number()),
          Instant.ofEpochMilli(sample.startEpochMillis()).toString(),
          Math.round(sample.durationNanos() / 1e3) / 1e3,
          sample.method(),
          sample.url(),
          showsQuery ? sample.query() : null,
          sample.status(),
          sample.contentBytes(),
          sample.cache(),
          sample.failure(),
          sample.route(),
          sample.origin(),
          sample.client(),
          sample.trace());
    }
  }
}
