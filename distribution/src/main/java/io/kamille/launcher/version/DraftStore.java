package io.kamille.launcher.version;

import io.kamille.admin.auth.PrivateFile;
import io.kamille.launcher.version.Refused.Kind;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Drafts of the configuration, in a directory. Confined to the control thread. */
final class DraftStore {

  /*
   * A draft is a file as a version is one: a comment line with what is known of it, then its text.
   * Its base is kept with it, because versions are forgotten and drafts are not.
   */
  static final int MOST = 20;

  private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,8})\\.yaml");
  private static final String HEAD = "# kamille draft ";
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  private final Path directory;
  private final TreeMap<Integer, Draft> drafts = new TreeMap<>();
  private int last;

  private DraftStore(Path directory) {
    this.directory = directory;
  }

  /** The drafts in that directory, which is made with the first one. */
  static DraftStore open(Path directory) throws IOException {
    var store = new DraftStore(directory);
    if (Files.isDirectory(directory)) {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          store.found(file);
        }
      }
    }
    return store;
  }

  private void found(Path file) throws IOException {
    Matcher name = NAME.matcher(String.valueOf(file.getFileName()));
    if (!name.matches()) {
      return;
    }
    int id = Integer.parseInt(name.group(1));
    last = Math.max(last, id);
    String content = Files.readString(file);
    int end = content.indexOf('\n');
    if (!content.startsWith(HEAD) || end < 0) {
      return;
    }
    try {
      drafts.put(id, JSON.readValue(content.substring(HEAD.length(), end), Draft.class));
    } catch (JacksonException broken) {
      // Somebody else wrote it.
    }
  }

  /** All of them, the newest first. */
  List<Draft> all() {
    return List.copyOf(drafts.descendingMap().values());
  }

  Draft find(int id) throws Refused {
    Draft draft = drafts.get(id);
    if (draft == null) {
      throw new Refused(Kind.NO_DRAFT, "There is no draft " + id + ".");
    }
    return draft;
  }

  /** What the draft proposes. */
  String text(int id) throws Refused {
    return read(find(id).id() + ".yaml", true);
  }

  /** The text of its base. */
  String base(int id) throws Refused {
    return read(find(id).id() + ".base", false);
  }

  private String read(String name, boolean hasHead) throws Refused {
    try {
      String content = Files.readString(directory.resolve(name));
      return hasHead ? content.substring(content.indexOf('\n') + 1) : content;
    } catch (IOException unreadable) {
      LOG.log(Level.ERROR, "a draft cannot be read", unreadable);
      throw new Refused(Kind.NO_DRAFT, "The draft cannot be read.");
    }
  }

  /** The next number. */
  int next() throws Refused {
    if (drafts.size() >= MOST) {
      throw new Refused(Kind.TOO_MANY_DRAFTS, "There are " + MOST + " drafts: remove one first.");
    }
    return last + 1;
  }

  /** Keeps a draft, in place of the one with its number. */
  void put(Draft draft, String base, String text) throws Refused {
    String content = HEAD + JSON.writeValueAsString(draft) + "\n" + text;
    try {
      write(draft.id() + ".base", base);
      write(draft.id() + ".yaml", content);
    } catch (IOException full) {
      throw new Refused(Kind.FILE_UNWRITABLE, "The draft cannot be written: " + full.getMessage());
    }
    last = Math.max(last, draft.id());
    drafts.put(draft.id(), draft);
  }

  private void write(String name, String content) throws IOException {
    PrivateFile.replace(directory.resolve(name), content.getBytes(StandardCharsets.UTF_8));
  }

  void remove(int id) throws Refused {
    Draft draft = find(id);
    try {
      Files.deleteIfExists(directory.resolve(draft.id() + ".yaml"));
      Files.deleteIfExists(directory.resolve(draft.id() + ".base"));
    } catch (IOException failed) {
      throw new Refused(
          Kind.FILE_UNWRITABLE, "The draft cannot be removed: " + failed.getMessage());
    }
    drafts.remove(id);
  }
}
