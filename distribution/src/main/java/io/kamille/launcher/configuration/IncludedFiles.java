package io.kamille.launcher.configuration;

import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigNode.Entry;
import io.kamille.core.setting.ConfigNode.Mapping;
import io.kamille.core.setting.ConfigNode.Scalar;
import io.kamille.core.setting.ConfigNode.Sequence;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Settings of other files, as if they stood in the configuration's own. Confined to its thread. */
final class IncludedFiles {

  /*
   * The texts may come by the API from somebody who may not read files, and problems quote what
   * stands there. So only files below the directory of the configuration are included, and none
   * that is not named as one of its kind.
   *
   * Paths in them are relative to the directory of the configuration, too (ConfigReader).
   *
   * Which file has a setting means nothing: lists go on, names are put together, and who stands
   * twice is refused (ConfigReader), as in one file.
   */
  private static final int MOST_FILES = 1_024;
  private static final String KEY = "include";

  /** Parts between slashes, none of them {@code .} or {@code ..}; stars in the last one only. */
  private static final Pattern NAMES =
      Pattern.compile("(?:(?!\\.\\.?/)[^*?/,\\[\\]{}\\\\\\x00]+/)*[^/,\\[\\]{}\\\\\\x00]+\\.ya?ml");

  /** Which files. */
  static final Setting<List<String>> SETTING =
      Setting.of(
              KEY,
              ValueTypes.list(
                  "list of files",
                  IncludedFiles::isName,
                  "a file below this one's directory that ends with .yaml, such as sites/*.yaml,"
                      + " with stars in its last part only"),
              "Files with more settings, such as `sites/*.yaml`: below the directory of the"
                  + " configuration file. A name with a star may match none. The order of files has"
                  + " no meaning. Kamille reads them when it reads the configuration; see"
                  + " [configure](../operations/configure.md#several-files).")
          .defaultsTo("none", values -> List.of());

  private final Path directory;
  private final Problems problems;
  private final Map<Path, byte[]> contents = new TreeMap<>();
  private int octetsLeft = ConfigTree.LIMIT_BYTES;

  private IncludedFiles(Path directory, Problems problems) {
    this.directory = directory;
    this.problems = problems;
  }

  private static boolean isName(String text) {
    return NAMES.matcher(text).matches();
  }

  /**
   * The root with what the files have that it includes; without those that have problems.
   *
   * @param directory of the configuration's own file
   * @param whole the declaration of that file
   */
  static ConfigNode expand(Path directory, ConfigNode root, Section<?> whole, Problems problems) {
    if (!(root instanceof Mapping own)) {
      return root;
    }
    var files = new IncludedFiles(directory, problems);
    files.read(own);
    List<Entry> entries = new ArrayList<>(own.entries());
    files.contents.forEach((file, content) -> files.parse(file, content, entries));
    if (files.contents.isEmpty()) {
      return root;
    }
    entries.removeIf(entry -> isList(entry, whole) && isNothing(entry.value()));
    return new Mapping(together(entries, whole), own.position());
  }

  private static boolean isList(Entry entry, Section<?> whole) {
    return whole.member(entry.key()) instanceof Subsection<?> child
        && child.shape() != Subsection.Shape.ONE;
  }

  /** A section of several files as one section. Twice in one file, it stays there twice. */
  private static List<Entry> together(List<Entry> entries, Section<?> section) {
    Map<Subsection<?>, List<Entry>> parts = new LinkedHashMap<>();
    List<Entry> others = new ArrayList<>();
    for (Entry entry : entries) {
      List<Entry> same = others;
      if (entry.value() instanceof Mapping
          && section.member(entry.key()) instanceof Subsection<?> child
          && child.shape() == Subsection.Shape.ONE) {
        List<Entry> before = parts.computeIfAbsent(child, _ -> new ArrayList<>());
        same = before.isEmpty() || !isOfOneFile(before.getLast(), entry) ? before : others;
      }
      same.add(entry);
    }
    return Stream.concat(
            parts.entrySet().stream().map(part -> one(part.getValue(), part.getKey().section())),
            others.stream())
        .toList();
  }

  private static Entry one(List<Entry> parts, Section<?> section) {
    Entry first = parts.getFirst();
    List<Entry> entries =
        parts.stream()
            .map(Entry::value)
            .flatMap(
                value ->
                    value instanceof Mapping mapping ? mapping.entries().stream() : Stream.empty())
            .toList();
    return parts.size() == 1
        ? first
        : new Entry(
            first.key(),
            first.position(),
            new Mapping(together(entries, section), first.value().position()));
  }

  private static boolean isOfOneFile(Entry one, Entry other) {
    return one.position().file().equals(other.position().file());
  }

  /** What is no name is refused with the other settings. */
  private void read(Mapping root) {
    for (Entry entry : root.entries()) {
      if (entry.key().equals(KEY) && entry.value() instanceof Sequence list) {
        for (ConfigNode item : list.items()) {
          if (item instanceof Scalar name && isName(name.text())) {
            read(name);
          }
        }
      }
    }
  }

  private void read(Scalar name) {
    String text = name.text();
    int last = text.lastIndexOf('/') + 1;
    try {
      if (text.indexOf('*') < 0 && text.indexOf('?') < 0) {
        read(directory.resolve(text));
        return;
      }
      Path parent = directory.resolve(text.substring(0, last));
      if (Files.notExists(parent)) {
        return;
      }
      try (var files = Files.newDirectoryStream(parent, text.substring(last))) {
        for (Path file : files) {
          // Editors keep copies under names that begin with a dot.
          if (!String.valueOf(file.getFileName()).startsWith(".")) {
            read(file);
          }
        }
      }
    } catch (IOException | DirectoryIteratorException unreadable) {
      if (!problems.readsFiles()) {
        return;
      }
      String found =
          switch (unreadable) {
            case NoSuchFileException none -> "no file " + none.getMessage();
            case FileSystemException other -> other.getFile() + ": " + Problems.reason(other);
            default -> String.valueOf(unreadable.getMessage());
          };
      problems.add(
          Problem.Mistake.UNREADABLE, name.position(), KEY, found, "files that can be read");
    }
  }

  private void read(Path file) throws IOException {
    if (contents.containsKey(file)) {
      return;
    }
    if (contents.size() == MOST_FILES) {
      throw new IOException("more than " + MOST_FILES + " files");
    }
    byte[] content;
    try {
      content = SmallFile.read(file, ConfigTree.LIMIT_BYTES);
    } catch (NoSuchFileException none) {
      throw none;
    } catch (IOException refused) {
      throw new IOException(file + ": " + Problems.reason(refused), refused);
    }
    if (content.length > octetsLeft) {
      throw new IOException("more than " + ByteSize.print(ConfigTree.LIMIT_BYTES) + " in files");
    }
    octetsLeft -= content.length;
    contents.put(file, content);
  }

  private void parse(Path file, byte[] content, List<Entry> entries) {
    ConfigNode root = ConfigTree.parse(content, file.toString(), problems);
    if (root instanceof Mapping mapping) {
      mapping.entries().forEach(entry -> take(entry, entries));
    } else if (root != null) {
      problems.add(Problem.Mistake.WRONG_KIND, root.position(), "", root.kind(), "a section");
    }
  }

  private void take(Entry entry, List<Entry> entries) {
    if (entry.key().equals(KEY)) {
      problems.add(
          Problem.Mistake.UNKNOWN_KEY,
          entry.position(),
          KEY,
          "a setting that an included file cannot have",
          "it in the configuration's own file");
    } else {
      entries.add(entry);
    }
  }

  private static boolean isNothing(ConfigNode node) {
    return switch (node) {
      case Scalar scalar -> scalar.isNothing();
      case Sequence list -> list.items().isEmpty();
      case Mapping names -> names.entries().isEmpty();
    };
  }
}
