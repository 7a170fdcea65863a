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
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Routes, upstreams and tests of other files, as if they stood in the configuration's own. Confined
 * to its thread.
 */
final class IncludedFiles {

  /*
   * The texts may come by the API from somebody who may not read files, and problems quote what
   * stands there. So only files below the directory of the configuration are included, and none
   * that is not named as one of its kind.
   *
   * Paths in them are relative to the directory of the configuration, too (ConfigReader).
   *
   * Which file has a route or an upstream means nothing: routes go by host and path, upstreams by
   * name, and who stands twice is refused, as in one file.
   */
  private static final int MOST_FILES = 1_024;
  private static final String KEY = "include";
  private static final Set<String> PARTS = Set.of("routes", "upstreams", "tests");

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
              "Files with more `routes`, `upstreams` and `tests`, such as `sites/*.yaml`: below the"
                  + " directory of the configuration file. A name with a star may match none. The"
                  + " order of files has no meaning. Kamille reads them when it reads the"
                  + " configuration; see [configure](../operations/configure.md#several-files).")
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
   */
  static ConfigNode expand(Path directory, ConfigNode root, Problems problems) {
    if (!(root instanceof Mapping own)) {
      return root;
    }
    var files = new IncludedFiles(directory, problems);
    files.read(own);
    List<Entry> entries = new ArrayList<>(own.entries());
    files.contents.forEach((file, content) -> files.parse(file, content, entries));
    if (!files.contents.isEmpty()) {
      entries.removeIf(entry -> PARTS.contains(entry.key()) && isNothing(entry.value()));
    }
    return new Mapping(List.copyOf(entries), own.position());
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
      problems.add(Problem.Kind.UNREADABLE, name.position(), KEY, found, "files that can be read");
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
      problems.add(Problem.Kind.WRONG_KIND, root.position(), "", root.kind(), "a section");
    }
  }

  private void take(Entry entry, List<Entry> entries) {
    if (PARTS.contains(entry.key())) {
      entries.add(entry);
    } else {
      problems.add(
          Problem.Kind.UNKNOWN_KEY,
          entry.position(),
          entry.key(),
          "a setting that an included file cannot have",
          "routes, upstreams or tests");
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
