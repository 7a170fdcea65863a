package io.kamille.perf.option;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The options of a command: what each is called, takes, and is when nothing is said. Immutable.
 *
 * <p>An option that is named again in a copy takes the place of the former one.
 */
public final class Options {

  /** The name of a file of raw data. */
  public static final Pattern FILE_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]*");

  private static final int HELP_COLUMN = 18;
  private static final String NOTHING = "";

  /**
   * One option.
   *
   * @param placeholder of its value in the help; empty for one that stands alone
   * @param usual its value when nothing is said
   * @param check throws if a value is of no use
   * @param words that it stands for; empty unless it is a short form
   */
  private record Option(
      String name,
      String placeholder,
      String usual,
      String help,
      Consumer<String> check,
      List<String> words) {

    private boolean isFlag() {
      return placeholder.isEmpty();
    }
  }

  private final Map<String, Option> options;

  private Options(Map<String, Option> options) {
    this.options = options;
  }

  /** No options. */
  public static Options none() {
    return new Options(Map.of());
  }

  private Options plus(Option option) {
    var more = new LinkedHashMap<>(options);
    more.put(option.name, option);
    return new Options(more);
  }

  /** A whole number. */
  public Options number(String name, int usual, int least, int most, String help) {
    String expected = "a number from " + least + " to " + most;
    return plus(
        new Option(
            name,
            "N",
            Integer.toString(usual),
            help,
            value ->
                check(
                    value.matches("[0-9]{1,9}")
                        && Integer.parseInt(value) >= least
                        && Integer.parseInt(value) <= most,
                    name,
                    value,
                    expected),
            List.of()));
  }

  /** A text, one word of the command line. */
  public Options text(String name, String placeholder, String usual, Pattern form, String help) {
    return plus(
        new Option(
            name,
            placeholder,
            usual,
            help,
            value -> check(form.matcher(value).matches(), name, value, form.pattern()),
            List.of()));
  }

  /**
   * A directory for what comes out.
   *
   * @param usual in words, where it goes when nothing is said
   */
  public Options directory(String usual) {
    String help = "where what comes out goes; " + usual + " if not said";
    return text("--to", "DIR", NOTHING, Pattern.compile(".+"), help);
  }

  /** Texts with commas between them. */
  public Options texts(
      String name, String placeholder, List<String> usual, Pattern form, String help) {
    Consumer<String> check =
        value ->
            parts(value)
                .forEach(one -> check(form.matcher(one).matches(), name, one, form.pattern()));
    return plus(new Option(name, placeholder, String.join(",", usual), help, check, List.of()));
  }

  /** Some of these names, with commas between them. */
  public Options names(String name, List<String> usual, Collection<String> known, String help) {
    String expected = String.join(", ", known);
    Consumer<String> check =
        value -> parts(value).forEach(one -> check(known.contains(one), name, one, expected));
    return plus(new Option(name, "A,B", String.join(",", usual), help, check, List.of()));
  }

  /** Something that is so if the option is there. */
  public Options flag(String name, String help) {
    return plus(new Option(name, NOTHING, NOTHING, help, value -> {}, List.of()));
  }

  /** A flag that stands for other words, too, which hold where the rest of the line is silent. */
  public Options shortcut(String name, String words, String help) {
    return plus(
        new Option(name, NOTHING, NOTHING, help, value -> {}, List.of(words.split(" ", -1))));
  }

  private static void check(boolean holds, String name, String value, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: " + expected + ")");
    }
  }

  static List<String> parts(String value) {
    return value.isEmpty() ? List.of() : List.of(value.split(",", -1));
  }

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  public Chosen parse(List<String> words) {
    Map<String, String> values = new TreeMap<>();
    options.values().stream()
        .filter(option -> !option.isFlag())
        .forEach(option -> values.put(option.name, option.usual));
    var left = new ArrayList<>(words);
    options.values().stream()
        .filter(option -> words.contains(option.name))
        .forEach(option -> left.addAll(0, option.words));
    while (!left.isEmpty()) {
      String word = left.removeFirst();
      Option option = options.get(word);
      if (option == null) {
        throw new IllegalArgumentException("unknown option " + word);
      }
      if (option.isFlag()) {
        values.put(word, "");
      } else if (left.isEmpty()) {
        throw new IllegalArgumentException(word + ": nothing behind it");
      } else {
        String value = left.removeFirst();
        option.check.accept(value);
        values.put(word, value);
      }
    }
    return new Chosen(values);
  }

  /** A line for each. */
  public String help() {
    return options.values().stream().map(Options::help).collect(Collectors.joining());
  }

  private static String help(Option option) {
    String name = option.name + (option.isFlag() ? "" : " " + option.placeholder);
    String usual = option.usual.isEmpty() ? "" : " (default " + option.usual + ")";
    return name
        + " ".repeat(Math.max(1, HELP_COLUMN - name.length()))
        + option.help.replace("\n", "\n" + " ".repeat(HELP_COLUMN))
        + usual
        + "\n";
  }
}
