package io.kamille.launcher.configuration;

import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigNode.Entry;
import io.kamille.core.setting.ConfigNode.Mapping;
import io.kamille.core.setting.ConfigNode.Scalar;
import io.kamille.core.setting.ConfigNode.Sequence;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Routes and upstreams of other files, as if they stood in the configuration's own. Confined to its
 * thread.
 */
final class IncludedFiles {

  /*
   * The texts may come by the API from somebody who may not read files, and problems quote what
   * stands there. So only files below the directory of the configuration are included, and none
   * that is not named as one of its kind.
   *
   * Which file has a route or an upstream means nothing: routes go by host and path, upstreams by
   * name, and who stands twice is refused, as in one file.
   */
  private static final int MOST_FILES = 1_024;
  private static final String KEY = "include";
  private static final String ROUTES = "routes";
  private static final String UPSTREAMS = "upstreams";
  private static final Position START = new Position(1, 1);

  private static final Pattern NAMES =
      Pattern.compile("(?:[^*?/,\\[\\]{}\\\\]+/)*[^/,\\[\\]{}\\\\]+\\.ya?ml");

  /** Which files. */
  static final Setting<List<String>> SETTING =
      Setting.of(
              KEY,
              ValueTypes.list(
                  "list of files",
                  IncludedFiles::isName,
                  "a file below this one's directory that ends with .yaml, such as sites/*.yaml,"
                      + " with stars in its last part only"),
              "Files with more `routes` and `upstreams`, such as `sites/*.yaml`: below the"
                  + " directory of the configuration file. A name with a star may match none. The"
                  + " order of files has no meaning. Kamille reads them when it reads the"
                  + " configuration; see [configure](../operations/configure.md#several-files).")
          .defaultsTo("none", values -> List.of());

  private final Path base;
  private final Problems problems;
  private final Map<Path, byte[]> contents = new TreeMap<>();
  private final List<ConfigNode> routes = new ArrayList<>();
  private final List<Entry> upstreams = new ArrayList<>();
  private int octetsLeft = ConfigTree.LIMIT_BYTES;

  private IncludedFiles(String name, Problems problems) {
    Path directory = Path.of(name).getParent();
    this.base = directory == null ? Path.of("") : directory;
    this.problems = problems;
  }

  private static boolean isName(String text) {
    return NAMES.matcher(text).matches()
        && !text.startsWith("/")
        && !List.of(text.split("/")).contains("..")
        && text.indexOf('\0') < 0;
  }

  /**
   * The root with what the files have that it includes; without those that have problems.
   *
   * @param name of the configuration's own file
   */
  static ConfigNode expand(String name, ConfigNode root, Problems problems) {
    if (!(root instanceof Mapping mapping) || names(mapping).isEmpty()) {
      return root;
    }
    var files = new IncludedFiles(name, problems);
    files.read(mapping);
    files.contents.forEach(files::parse);
    List<Entry> entries = new ArrayList<>(mapping.entries());
    files.join(entries, ROUTES, files.routes);
    files.join(entries, UPSTREAMS, files.upstreams);
    return new Mapping(List.copyOf(entries), mapping.position());
  }

  /** What the files say that this root includes, by their names. */
  static Map<Path, byte[]> contents(String name, ConfigNode root) {
    var files = new IncludedFiles(name, new Problems(name));
    if (root instanceof Mapping mapping) {
      files.read(mapping);
    }
    return files.contents;
  }

  private static List<Scalar> names(Mapping root) {
    List<Scalar> names = new ArrayList<>();
    for (Entry entry : root.entries()) {
      if (entry.key().equals(KEY) && entry.value() instanceof Sequence list) {
        list.items().forEach(item -> add(item, names));
      }
    }
    return names;
  }

  /** What is no name is refused with the other settings. */
  private static void add(ConfigNode item, List<Scalar> names) {
    if (item instanceof Scalar scalar && isName(scalar.text())) {
      names.add(scalar);
    }
  }

  private void read(Mapping root) {
    for (Scalar name : names(root)) {
      try {
        for (Path file : matching(name.text())) {
          if (!contents.containsKey(file)) {
            contents.put(file, content(file));
          }
        }
      } catch (IOException unreadable) {
        String file = unreadable.getMessage();
        problems.add(
            Problem.Kind.UNREADABLE,
            name.position(),
            KEY,
            unreadable instanceof NoSuchFileException ? "no file " + file : String.valueOf(file),
            "files that can be read");
      }
    }
  }

  /** In the order of their names. Editors keep copies under names that begin with a dot. */
  private Iterable<Path> matching(String name) throws IOException {
    Path pattern = base.resolve(name);
    if (name.indexOf('*') < 0 && name.indexOf('?') < 0) {
      return List.of(pattern);
    }
    Path directory = pattern.getParent();
    var found = new TreeSet<Path>();
    String last = String.valueOf(pattern.getFileName());
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(directory == null ? Path.of("") : directory, last)) {
      for (Path file : files) {
        if (!String.valueOf(file.getFileName()).startsWith(".") && found.size() <= MOST_FILES) {
          found.add(file);
        }
      }
    } catch (DirectoryIteratorException failed) {
      throw failed.getCause();
    }
    return found;
  }

  private byte[] content(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw Files.exists(file)
          ? new IOException(file + ", which is no file")
          : new NoSuchFileException(file.toString());
    }
    if (contents.size() == MOST_FILES) {
      throw new IOException("more than " + MOST_FILES + " files");
    }
    try (var in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(octetsLeft + 1);
      if (content.length > octetsLeft) {
        throw new IOException("more than " + ByteSize.print(ConfigTree.LIMIT_BYTES) + " in files");
      }
      octetsLeft -= content.length;
      return content;
    }
  }

  private void parse(Path file, byte[] content) {
    ConfigNode root = ConfigTree.parse(content, file.toString(), problems);
    if (root instanceof Mapping mapping) {
      mapping.entries().forEach(this::take);
    } else if (root != null) {
      problems.add(Problem.Kind.WRONG_KIND, root.position(), "", root.kind(), "a section");
    }
  }

  private void take(Entry entry) {
    switch (entry.value()) {
      case Sequence list when entry.key().equals(ROUTES) -> routes.addAll(list.items());
      case Mapping names when entry.key().equals(UPSTREAMS) -> upstreams.addAll(names.entries());
      default ->
          problems.add(
              Problem.Kind.UNKNOWN_KEY,
              entry.position(),
              entry.key(),
              "a setting that an included file cannot have",
              "a list of routes or sections of upstreams");
    }
  }

  /** Puts them behind what the configuration has under the key. */
  private void join(List<Entry> entries, String key, List<?> more) {
    if (more.isEmpty()) {
      return;
    }
    int at = 0;
    while (at < entries.size() && !entries.get(at).key().equals(key)) {
      at++;
    }
    if (at == entries.size()) {
      entries.add(new Entry(key, START, new Scalar("", false, START)));
    }
    Entry own = entries.get(at);
    entries.set(at, new Entry(key, own.position(), joined(own.value(), key.equals(ROUTES))));
  }

  /** What is of the wrong kind is refused with the other settings. */
  private ConfigNode joined(ConfigNode own, boolean isRoutes) {
    return switch (own) {
      case Sequence list when isRoutes -> routes(list.items(), own.position());
      case Mapping names when !isRoutes -> upstreams(names.entries(), own.position());
      case Scalar scalar when scalar.isNothing() ->
          isRoutes ? routes(List.of(), own.position()) : upstreams(List.of(), own.position());
      default -> own;
    };
  }

  private ConfigNode routes(List<ConfigNode> own, Position at) {
    return new Sequence(Stream.concat(own.stream(), routes.stream()).toList(), at);
  }

  private ConfigNode upstreams(List<Entry> own, Position at) {
    return new Mapping(Stream.concat(own.stream(), upstreams.stream()).toList(), at);
  }
}
