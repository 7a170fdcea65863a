package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.live.History;
import io.kamille.admin.live.History.Range;
import io.kamille.core.http.StatusCode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What some figures were lately: each second, as rows, and as reports. */
final class HistoryResources {

  private HistoryResources() {}

  static List<Operation> of(History history) {
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
            .by(() -> Answer.of(StatusCode.OK, Answer.EVENT_STREAM, "retry: 2000\n\n")));
  }

  private record Series(int stepSeconds, int steps, Map<String, float[]> figures) {}

  private static Answer series(History history, @Nullable String name) throws InvalidRequest {
    for (Range range : Range.values()) {
      if (range.name().toLowerCase(Locale.ROOT).equals(name == null ? "minutes" : name)) {
        return Answer.json(new Series(range.stepSeconds(), range.steps(), history.values(range)));
      }
    }
    throw new InvalidRequest("range must be minutes, hours or days.");
  }
}
