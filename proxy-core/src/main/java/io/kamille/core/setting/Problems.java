package io.kamille.core.setting;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The mistakes found so far in one configuration. Confined to the thread that reads it. */
public final class Problems {

  /** After so many we only count: nobody reads further, and a hostile file may hold millions. */
  private static final int LIMIT = 100;

  private static final int SHOWN_CHARACTERS = 60;

  private final String file;
  private final boolean readsFiles;
  private final List<Problem> found = new ArrayList<>();
  private int beyondLimit;

  /**
   * @param file what is read, as the operator named it; every problem begins with it
   */
  public Problems(String file) {
    this(file, true);
  }

  /**
   * The same.
   *
   * @param readsFiles whether the files that it names count, or its own rules alone
   */
  public Problems(String file, boolean readsFiles) {
    this.file = file;
    this.readsFiles = readsFiles;
  }

  /** What is read. */
  public String file() {
    return file;
  }

  /** Whether the files that it names count. */
  public boolean readsFiles() {
    return readsFiles;
  }

  /** Adds a problem that has no nearest known key. */
  public void add(
      Problem.Mistake kind, Position position, String path, String found, String expected) {
    add(kind, position, path, found, expected, null);
  }

  /** Adds that the value of a setting contradicts another one. */
  public void conflict(SectionValues section, Setting<?> setting, String expected) {
    conflict(section, setting, quote(section.printed(setting)), expected);
  }

  /** The same, where {@code found} says what contradicts. */
  public void conflict(SectionValues section, Setting<?> setting, String found, String expected) {
    add(
        Problem.Mistake.CONFLICT,
        section.position(setting),
        section.path(setting),
        found,
        expected);
  }

  /** Adds that a section as a whole contradicts itself or another one. */
  public void conflict(SectionValues section, String found, String expected) {
    add(Problem.Mistake.CONFLICT, section.position(), section.path(), found, expected);
  }

  /**
   * Adds each setting of a section that is given without the one that it belongs to.
   *
   * @param name what {@code whole} is called
   */
  public void needs(SectionValues section, Setting<?> whole, String name) {
    for (Member member : section.section().members()) {
      if (member instanceof Setting<?> part && !part.equals(whole)) {
        alone(section, part, whole, name);
      }
    }
  }

  /** Adds the one of two settings that is given without the other. */
  public void together(
      SectionValues section, Setting<?> one, String its, Setting<?> other, String others) {
    alone(section, one, other, others);
    alone(section, other, one, its);
  }

  private void alone(SectionValues section, Setting<?> given, Setting<?> missing, String name) {
    if (section.isGiven(given) && !section.isGiven(missing) && !hasRefused(section.path(missing))) {
      conflict(section, given, name + " beside it");
    }
  }

  /** Reads a file, and fails with one sentence. */
  @FunctionalInterface
  public interface Reading {
    @Nullable Object run() throws IOException;
  }

  /** Adds that a setting names a file that cannot be read so; answers whether it can. */
  public boolean readable(
      SectionValues section, Setting<?> setting, String expected, Reading reading) {
    try {
      if (readsFiles) {
        reading.run();
      }
      return true;
    } catch (IOException unusable) {
      conflict(section, setting, expected + " (" + reason(unusable) + ")");
      return false;
    }
  }

  /** Reads what a setting names, and fails with one sentence. */
  @FunctionalInterface
  public interface Reader<T> {
    @Nullable Object read(T named) throws IOException;
  }

  /** The same of a setting that may name nothing: then it cannot be read, and is no problem. */
  public <T> boolean readable(
      SectionValues section, Setting<T> setting, String expected, Reader<T> reader) {
    T named = section.find(setting);
    return named != null && readable(section, setting, expected, () -> reader.read(named));
  }

  void add(
      Problem.Mistake kind,
      Position position,
      String path,
      String found,
      String expected,
      @Nullable String nearest) {
    if (isFull()) {
      beyondLimit++;
      return;
    }
    String in = position.file().isEmpty() ? file : position.file();
    this.found.add(new Problem(kind, in, position, path, found, expected, nearest));
  }

  /** Adds that the file cannot be read at all. */
  public void addUnreadable(IOException why) {
    String found =
        why instanceof NoSuchFileException || why instanceof AccessDeniedException
            ? reason(why)
            : "an error while reading it (" + why.getMessage() + ")";
    add(Problem.Mistake.UNREADABLE, Position.NOWHERE, "", found, "a file that can be read");
  }

  /** Why a file cannot be read, in words. */
  public static String reason(IOException why) {
    return switch (why) {
      case NoSuchFileException _ -> "no file of this name";
      case AccessDeniedException _ -> "no permission to read it";
      case NotDirectoryException _ -> "it is no directory";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> String.valueOf(why.getMessage());
    };
  }

  public boolean isEmpty() {
    return found.isEmpty();
  }

  /**
   * Whether the values of a section may be missing because what stands there was refused. What
   * contradicts something else has its value.
   *
   * @param path of the section, such as {@code routes[0]}
   */
  public boolean hasRefused(String path) {
    return found.stream()
        .filter(problem -> problem.kind() != Problem.Mistake.CONFLICT)
        .map(Problem::path)
        .anyMatch(refused -> refused.equals(path) || refused.startsWith(path + "."));
  }

  /** Whether a further problem would only be counted. */
  boolean isFull() {
    return found.size() == LIMIT;
  }

  /** All problems in the order of the file; the last line tells how many more there are. */
  public List<Problem> inOrder() {
    var sorted = new ArrayList<>(found);
    sorted.sort(Comparator.comparing(Problem::position));
    if (beyondLimit > 0) {
      sorted.add(
          new Problem(
              Problem.Mistake.SYNTAX,
              file,
              Position.NOWHERE,
              "",
              beyondLimit + " more problems",
              "the first " + LIMIT + " to be repaired before the rest is shown",
              null));
    }
    return List.copyOf(sorted);
  }

  /** Text from the file as a message shows it: in quotes, printable and not too long. */
  public static String quote(String text) {
    var shown = new StringBuilder("\"");
    text.codePoints()
        .limit(SHOWN_CHARACTERS)
        .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '\uFFFD' : c));
    if (text.codePoints().skip(SHOWN_CHARACTERS).findAny().isPresent()) {
      shown.append('…');
    }
    return shown.append('"').toString();
  }
}
