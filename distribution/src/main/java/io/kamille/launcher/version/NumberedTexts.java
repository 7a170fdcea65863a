package io.kamille.launcher.version;

import io.kamille.admin.auth.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Texts in a directory, each with a number and with what is known of it. Confined to the control
 * thread.
 *
 * @param <T> what is known of a text: a record that JSON can hold
 */
final class NumberedTexts<T> {

  /*
   * A text is one file, N.yaml: a comment line with what is known of it as JSON, then the text as
   * it came. It is written beside its place, forced to the disk and renamed, so a kill at any moment
   * leaves it whole or not there. A file that cannot be read is no text; its number is not used
   * again. So the highest number stays as an empty file when its text is removed.
   */
  private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,8})\\.yaml");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Path directory;
  private final String mark;
  private final Class<T> type;
  private final TreeMap<Integer, T> known = new TreeMap<>();
  private int last;

  private NumberedTexts(Path directory, String mark, Class<T> type) {
    this.directory = directory;
    this.mark = mark;
    this.type = type;
  }

  /**
   * The texts in that directory, which is made with the first one.
   *
   * @param mark how the first line of each begins
   */
  static <T> NumberedTexts<T> open(Path directory, String mark, Class<T> type) throws IOException {
    var texts = new NumberedTexts<>(directory, mark, type);
    if (Files.isDirectory(directory)) {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          texts.found(file);
        }
      }
    }
    return texts;
  }

  private void found(Path file) throws IOException {
    Matcher name = NAME.matcher(String.valueOf(file.getFileName()));
    if (!name.matches()) {
      return;
    }
    int number = Integer.parseInt(name.group(1));
    last = Math.max(last, number);
    String content = Files.readString(file);
    int end = content.indexOf('\n');
    if (!content.startsWith(mark) || end < 0) {
      return;
    }
    try {
      known.put(number, JSON.readValue(content.substring(mark.length(), end), type));
    } catch (JacksonException broken) {
      // Somebody else wrote it.
    }
  }

  /** What is known of each, by number: a view. */
  NavigableMap<Integer, T> known() {
    return Collections.unmodifiableNavigableMap(known);
  }

  /** The number that the next text takes. */
  int next() {
    return last + 1;
  }

  /** The text with a number that {@link #known()} has. */
  String text(int number) throws IOException {
    String content = Files.readString(file(number));
    return content.substring(content.indexOf('\n') + 1);
  }

  /** Keeps a text, in place of the one with its number. */
  void put(int number, T about, String text) throws IOException {
    write(number, mark + JSON.writeValueAsString(about) + "\n" + text);
    Path before = file(last);
    if (number > last && Files.exists(before) && Files.size(before) == 0) {
      Files.delete(before);
    }
    last = Math.max(last, number);
    known.put(number, about);
  }

  /** Forgets a text, but not that its number was used. */
  void remove(int number) throws IOException {
    if (number == last) {
      write(number, "");
    } else {
      Files.deleteIfExists(file(number));
    }
    known.remove(number);
  }

  private void write(int number, String content) throws IOException {
    PrivateFile.replace(file(number), content.getBytes(StandardCharsets.UTF_8));
  }

  private Path file(int number) {
    return directory.resolve(number + ".yaml");
  }
}
