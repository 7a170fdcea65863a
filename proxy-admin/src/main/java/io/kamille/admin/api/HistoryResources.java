package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.live.Figure;
import io.kamille.admin.live.History;
import io.kamille.admin.live.History.Range;
import io.kamille.admin.live.Period;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What some figures were lately: each second, as rows, and as reports. */
final class HistoryResources {

  private HistoryResources() {}

  static List<Operation> of(History history, WallClock clock) {
    return List.of(
        Operation.get("/v1/series", Scope.READ, "Some figures of the last minutes, hours or days.")
            .may("range", "minutes (each second of ten), hours (each ten seconds of six) or days.")
            .answers(Series.class)
            .by((_, query) -> series(history, query.optional("range"))),
        // The beginning of the stream; the connection adds each second.
        Operation.get(
                "/v1/live",
                Scope.READ,
                "The figures of each second as server-sent events. Each event has all figures"
                    + " of its second; what a client missed is in /v1/series, so Last-Event-ID"
                    + " counts for nothing.")
            .answersAs(Answer.EVENT_STREAM)
            .by(() -> Answer.of(StatusCode.OK, Answer.EVENT_STREAM, "retry: 2000\n\n")),
        Operation.get("/v1/reports", Scope.READ, "The reports that there are.")
            .answers(Listed.class)
            .by(() -> Answer.json(Listed.ALL)),
        Operation.get(
                "/v1/reports/{period}",
                Scope.READ,
                "What happened in the last hour, day or week, beside the same time before.")
            .answers(Report.class)
            .by((request, _) -> report(history, clock, request.parameter("period"))));
  }

  private record Series(int stepSeconds, int steps, Map<String, float[]> figures) {}

  private static Answer series(History history, @Nullable String name) throws InvalidRequest {
    for (Range range : Range.values()) {
      if (range.name().toLowerCase(Locale.ROOT).equals(name == null ? "minutes" : name)) {
        Map<String, float[]> figures = new LinkedHashMap<>();
        for (Figure figure : Figure.values()) {
          figures.put(figure.token(), history.values(range, figure));
        }
        return Answer.json(new Series(range.stepSeconds(), range.steps(), figures));
      }
    }
    throw new InvalidRequest("range must be minutes, hours or days.");
  }

  private enum Length {
    HOUR(3_600),
    DAY(86_400),
    WEEK(604_800);

    private final long seconds;

    Length(long seconds) {
      this.seconds = seconds;
    }

    String token() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private record Listed(List<Entry> reports) {
    static final Listed ALL =
        new Listed(
            Stream.of(Length.values())
                .map(length -> new Entry(length.token(), length.seconds))
                .toList());
  }

  private record Entry(String period, long seconds) {}

  private record Report(
      String period,
      String to,
      long wantedSeconds,
      int stepSeconds,
      Period now,
      @Nullable Period before,
      Map<String, float[]> figures) {}

  /** From the finest range that has the period and the one before it. */
  private static Answer report(History history, WallClock clock, String period) {
    for (Length length : Length.values()) {
      if (length.token().equals(period)) {
        Range range = history.finest(2 * length.seconds);
        int steps = (int) (length.seconds / range.stepSeconds());
        Instant now = Instant.ofEpochMilli(clock.epochMillis());
        Period before = Period.of(history, range, 2 * steps, steps, now);
        return Answer.json(
            new Report(
                period,
                now.toString(),
                length.seconds,
                range.stepSeconds(),
                Period.of(history, range, steps, 0, now),
                before.seconds() == 0 ? null : before,
                figures(history, range, steps)));
      }
    }
    return Answer.problem(StatusCode.NOT_FOUND, "There are reports for hour, day and week.");
  }

  private static Map<String, float[]> figures(History history, Range range, int steps) {
    Map<String, float[]> figures = new LinkedHashMap<>();
    for (Figure figure : List.of(Figure.REQUESTS, Figure.HITS)) {
      float[] values = history.values(range, figure);
      figures.put(
          figure.token(),
          Arrays.copyOfRange(values, Math.max(0, values.length - steps), values.length));
    }
    return figures;
  }
}
