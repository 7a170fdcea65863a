package io.kamille.perf.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A page in Markdown about an experiment, with drawings beside it. Not thread-safe. */
public final class Report {

  private final StringBuilder text = new StringBuilder();
  private final Map<String, LineChart> plots = new LinkedHashMap<>();

  /** An empty one. */
  public Report(String title) {
    text.append("# ").append(title).append("\n\n");
  }

  /** A heading below the title. */
  public Report heading(String heading) {
    text.append("## ").append(heading).append("\n\n");
    return this;
  }

  /** Some sentences. */
  public Report paragraph(String paragraph) {
    text.append(paragraph).append("\n\n");
    return this;
  }

  /** A list; nothing if it is empty. */
  public Report items(List<String> items) {
    items.forEach(item -> text.append("- ").append(item).append('\n'));
    text.append(items.isEmpty() ? "" : "\n");
    return this;
  }

  /** Facts about the run, a line each. */
  public Report facts(Map<String, String> facts) {
    return items(facts.entrySet().stream().map(f -> f.getKey() + ": " + f.getValue()).toList());
  }

  /** A table. */
  public Report table(Table table) {
    text.append(table).append('\n');
    return this;
  }

  /** Lines to be shown as they are: a configuration. */
  public Report code(String code) {
    text.append("```\n").append(code.stripTrailing()).append("\n```\n\n");
    return this;
  }

  /**
   * A drawing, if there is something to see.
   *
   * @param name of its file, without ending
   */
  public Report plot(String name, LineChart chart) {
    if (chart.isDrawn()) {
      plots.put(name + ".svg", chart);
      text.append("![").append(name).append("](").append(name).append(".svg)\n\n");
    }
    return this;
  }

  /** Writes report.md and the drawings into that directory, which is made. */
  public void write(Path directory) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("report.md"), text);
    for (var plot : plots.entrySet()) {
      Files.writeString(directory.resolve(plot.getKey()), plot.getValue().svg());
    }
  }
}
