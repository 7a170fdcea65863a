package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.live.Figure;
import io.kamille.admin.live.History;
import io.kamille.admin.live.History.Range;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** {@code GET /v1/series}: what some figures were lately. */
final class Series implements Resource {

  private final History history;

  Series(History history) {
    this.history = history;
  }

  @Override
  public Operation operation() {
    return Operation.get(
            "/v1/series", Scope.READ, "Some figures of the last minutes, hours or days.")
        .may("range", "minutes (each second of ten), hours (each ten seconds of six) or days.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    String given = Query.of(request, operation()).optional("range");
    Range range = range(given == null ? "minutes" : given);
    Map<String, float[]> figures = new LinkedHashMap<>();
    for (Figure figure : Figure.values()) {
      figures.put(figure.token(), history.values(range, figure));
    }
    return Answer.json(new Document(range.stepSeconds(), range.steps(), figures));
  }

  private static Range range(String name) throws InvalidRequest {
    for (Range range : Range.values()) {
      if (range.name().toLowerCase(Locale.ROOT).equals(name)) {
        return range;
      }
    }
    throw new InvalidRequest("range must be minutes, hours or days.");
  }

  private record Document(int stepSeconds, int steps, Map<String, float[]> figures) {}
}
