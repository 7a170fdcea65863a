package io.kamille.perf.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an experiment has to say, in order, to be read as Markdown or as one HTML page that needs
 * nothing else. Not thread-safe.
 */
public final class Report {

  private static final String STYLE =
      "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
          + "table{border-collapse:collapse;margin:1em 0}"
          + "td,th{border:1px solid #999;padding:.2em .6em;text-align:right}"
          + "td:first-child,th:first-child{text-align:left}svg{max-width:100%}";

  private sealed interface Block {}

  private record Heading(String text) implements Block {}

  private record Paragraph(String text) implements Block {}

  private record Items(List<String> texts) implements Block {}

  private record Grid(Table table) implements Block {}

  private record Code(String text) implements Block {}

  /** A drawing. */
  private record Plot(String name, String svg) implements Block {}

  private final String title;
  private final List<Block> blocks = new ArrayList<>();

  public Report(String title) {
    this.title = title;
  }

  public Report heading(String text) {
    blocks.add(new Heading(text));
    return this;
  }

  public Report paragraph(String text) {
    blocks.add(new Paragraph(text));
    return this;
  }

  /** A list; nothing if it is empty. */
  public Report items(List<String> texts) {
    if (!texts.isEmpty()) {
      blocks.add(new Items(List.copyOf(texts)));
    }
    return this;
  }

  /** Facts about the run, a line each. */
  public Report facts(Map<String, String> facts) {
    return items(facts.entrySet().stream().map(f -> f.getKey() + ": " + f.getValue()).toList());
  }

  public Report table(Table table) {
    blocks.add(new Grid(table));
    return this;
  }

  /** Lines to be shown as they are: a configuration. */
  public Report code(String text) {
    blocks.add(new Code(text));
    return this;
  }

  /**
   * A drawing.
   *
   * @param name of its file beside the Markdown, without {@code .svg}
   */
  public Report plot(String name, String svg) {
    blocks.add(new Plot(name, svg));
    return this;
  }

  /** The same, if there is one. */
  public Report plot(String name, Optional<String> svg) {
    svg.ifPresent(drawn -> plot(name, drawn));
    return this;
  }

  /** Writes report.md, report.html and the drawings into that directory, which is made. */
  public void write(Path directory) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("report.md"), markdown());
    Files.writeString(directory.resolve("report.html"), html());
    for (PlotFile plot : plots()) {
      Files.writeString(directory.resolve(plot.name()), plot.svg());
    }
  }

  /** The drawings, each with the name of its file. */
  public List<PlotFile> plots() {
    var files = new ArrayList<PlotFile>();
    for (Block block : blocks) {
      if (block instanceof Plot(String name, String svg)) {
        files.add(new PlotFile(name + ".svg", svg));
      }
    }
    return files;
  }

  /** A drawing that the Markdown points to. */
  public record PlotFile(String name, String svg) {}

  /** With drawings as files beside it. */
  public String markdown() {
    var text = new StringBuilder("# ").append(title).append("\n\n");
    for (Block block : blocks) {
      switch (block) {
        case Heading(String heading) -> text.append("## ").append(heading).append("\n\n");
        case Paragraph(String paragraph) -> text.append(paragraph).append("\n\n");
        case Items(List<String> texts) -> {
          texts.forEach(item -> text.append("- ").append(item).append('\n'));
          text.append('\n');
        }
        case Grid(Table table) -> text.append(table).append('\n');
        case Code(String code) ->
            text.append("```\n").append(code.stripTrailing()).append("\n```\n\n");
        case Plot(String name, String svg) ->
            text.append("![").append(name).append("](").append(name).append(".svg)\n\n");
      }
    }
    return text.toString();
  }

  /** With drawings inside. */
  public String html() {
    var text =
        new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    text.append("<title>").append(escaped(title)).append("</title><style>").append(STYLE);
    text.append("</style></head><body>\n<h1>").append(escaped(title)).append("</h1>\n");
    for (Block block : blocks) {
      switch (block) {
        case Heading(String heading) -> element(text, "h2", heading);
        case Paragraph(String paragraph) -> element(text, "p", paragraph);
        case Items(List<String> texts) -> {
          text.append("<ul>");
          texts.forEach(item -> element(text, "li", item));
          text.append("</ul>\n");
        }
        case Grid(Table table) -> append(text, table);
        case Code(String code) -> element(text, "pre", code);
        case Plot(String name, String svg) ->
            text.append("<figure>").append(svg).append("</figure>\n");
      }
    }
    return text.append("</body></html>\n").toString();
  }

  private static void append(StringBuilder text, Table table) {
    text.append("<table>");
    String cell = "th";
    for (List<String> row : table.rows()) {
      text.append("<tr>");
      for (String value : row) {
        element(text, cell, value);
      }
      text.append("</tr>\n");
      cell = "td";
    }
    text.append("</table>\n");
  }

  private static void element(StringBuilder text, String name, String content) {
    text.append('<').append(name).append('>').append(escaped(content));
    text.append("</").append(name).append('>');
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
