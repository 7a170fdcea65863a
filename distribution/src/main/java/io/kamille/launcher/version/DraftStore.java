package io.kamille.launcher.version;

import io.kamille.admin.auth.PrivateFile;
import io.kamille.launcher.version.Refused.Kind;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Drafts of the configuration, in a directory. Confined to the control thread. */
final class DraftStore {

  /*
   * The base of a draft is kept with it, because versions are forgotten and drafts are not.
   */
  static final int MOST = 20;

  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  private final Path directory;
  private final NumberedTexts<Draft> texts;

  private DraftStore(Path directory, NumberedTexts<Draft> texts) {
    this.directory = directory;
    this.texts = texts;
  }

  /** The drafts in that directory, which is made with the first one. */
  static DraftStore open(Path directory) throws IOException {
    return new DraftStore(
        directory, NumberedTexts.open(directory, "# kamille draft ", Draft.class));
  }

  /** All of them, the newest first. */
  List<Draft> all() {
    return List.copyOf(texts.known().descendingMap().values());
  }

  Draft find(int id) throws Refused {
    Draft draft = texts.known().get(id);
    if (draft == null) {
      throw new Refused(Kind.NO_DRAFT, "There is no draft " + id + ".");
    }
    return draft;
  }

  /** What the draft proposes. */
  String text(int id) throws Refused {
    find(id);
    try {
      return texts.text(id);
    } catch (IOException unreadable) {
      throw unreadable(unreadable);
    }
  }

  /** The text of its base. */
  String base(int id) throws Refused {
    find(id);
    try {
      return Files.readString(baseFile(id));
    } catch (IOException unreadable) {
      throw unreadable(unreadable);
    }
  }

  private static Refused unreadable(IOException why) {
    LOG.log(Level.ERROR, "a draft cannot be read", why);
    return new Refused(Kind.NO_DRAFT, "The draft cannot be read.");
  }

  /** The next number. */
  int next() throws Refused {
    if (texts.known().size() >= MOST) {
      throw new Refused(Kind.TOO_MANY_DRAFTS, "There are " + MOST + " drafts: remove one first.");
    }
    return texts.next();
  }

  /** Keeps a draft, in place of the one with its number. */
  void put(Draft draft, String base, String text) throws Refused {
    try {
      PrivateFile.replace(baseFile(draft.id()), base.getBytes(StandardCharsets.UTF_8));
      texts.put(draft.id(), draft, text);
    } catch (IOException full) {
      throw new Refused(Kind.FILE_UNWRITABLE, "The draft cannot be written: " + full.getMessage());
    }
  }

  void remove(int id) throws Refused {
    find(id);
    try {
      texts.remove(id);
      Files.deleteIfExists(baseFile(id));
    } catch (IOException failed) {
      throw new Refused(
          Kind.FILE_UNWRITABLE, "The draft cannot be removed: " + failed.getMessage());
    }
  }

  private Path baseFile(int id) {
    return directory.resolve(id + ".base");
  }
}
