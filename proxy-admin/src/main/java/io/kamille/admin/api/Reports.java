package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.live.Figure;
import io.kamille.admin.live.History;
import io.kamille.admin.live.History.Range;
import io.kamille.admin.live.Period;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/reports/{period}}: what happened in the last hour, day or week, and before. */
final class Reports implements Resource {

  /*
   * A report is made of history when somebody asks, from the finest range that has the period and
   * the one before it.
   */
  private static final Operation OPERATION =
      Operation.get(
              "/v1/reports/{period}",
              Scope.READ,
              "What happened in the last hour, day or week, beside the same time before.")
          .answers(Document.class);

  private static final Operation LIST =
      Operation.get("/v1/reports", Scope.READ, "The reports that there are.").answers(Listed.class);

  private enum Length {
    HOUR(3_600),
    DAY(86_400),
    WEEK(604_800);

    private final long seconds;

    Length(long seconds) {
      this.seconds = seconds;
    }
  }

  private final History history;
  private final WallClock clock;

  private Reports(History history, WallClock clock) {
    this.history = history;
    this.clock = clock;
  }

  static List<Resource> of(History history, WallClock clock) {
    return List.of(new ReportList(), new Reports(history, clock));
  }

  @Override
  public Operation operation() {
    return OPERATION;
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    Length length = length(request.parameter("period"));
    Range range = history.finest(2 * length.seconds);
    int steps = (int) (length.seconds / range.stepSeconds());
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    Period before = Period.of(history, range, 2 * steps, steps, now);
    return Answer.json(
        new Document(
            name(length),
            now.toString(),
            length.seconds,
            range.stepSeconds(),
            Period.of(history, range, steps, 0, now),
            before.seconds() == 0 ? null : before,
            figures(range, steps)));
  }

  private static Length length(String name) throws InvalidRequest {
    for (Length length : Length.values()) {
      if (name(length).equals(name)) {
        return length;
      }
    }
    throw new InvalidRequest(
        Answer.problem(StatusCode.NOT_FOUND, "There are reports for hour, day and week."));
  }

  private static String name(Length length) {
    return length.name().toLowerCase(Locale.ROOT);
  }

  private Map<String, float[]> figures(Range range, int steps) {
    Map<String, float[]> figures = new LinkedHashMap<>();
    for (Figure figure : List.of(Figure.REQUESTS, Figure.HITS)) {
      float[] values = history.values(range, figure);
      figures.put(
          figure.token(),
          Arrays.copyOfRange(values, Math.max(0, values.length - steps), values.length));
    }
    return figures;
  }

  private record Document(
      String period,
      String to,
      long wantedSeconds,
      int stepSeconds,
      Period now,
      @Nullable Period before,
      Map<String, float[]> figures) {}

  private record Listed(List<Entry> reports) {}

  private record Entry(String period, long seconds) {}

  /** {@code GET /v1/reports}. */
  private static final class ReportList implements Resource {

    @Override
    public Operation operation() {
      return LIST;
    }

    @Override
    public Answer answer(AdminRequest request) {
      List<Entry> entries = new ArrayList<>();
      for (Length length : Length.values()) {
        entries.add(new Entry(name(length), length.seconds));
      }
      return Answer.json(new Listed(entries));
    }
  }
}
