package io.kamille.launcher.version;

import io.kamille.admin.api.ProblemType;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;

/** The configuration's file, as it was read or written last, and its versions. */
final class KeptFile {

  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  private final Path file;
  private final ConfigStore store;
  private final InstantSource clock;
  // Read without the lock of ConfigControl, which writes it.
  private volatile String text;
  private boolean isKept;

  /**
   * The text of the file, as it was read, becomes a version, if it is not the newest one.
   *
   * @param directory where versions are kept
   */
  KeptFile(Path file, String text, Path directory, InstantSource clock) throws IOException {
    this.file = file;
    this.store = new ConfigStore(directory);
    this.clock = clock;
    this.text = text;
    read(text);
  }

  /** What is in the file now. */
  String now() throws IOException {
    try {
      return SmallFile.text(file, ConfigTree.LIMIT_BYTES);
    } catch (IOException refused) {
      throw new IOException(file + ": " + Problems.reason(refused), refused);
    }
  }

  Path path() {
    return file;
  }

  String text() {
    return text;
  }

  /** The number of the version that the file has; 0 if it could not be kept. */
  int version() {
    Integer newest = store.newest();
    return newest == null || !isKept ? 0 : newest;
  }

  List<ConfigVersion> versions() {
    return store.all();
  }

  String text(int number) throws Refused {
    try {
      String kept = store.text(number);
      if (kept != null) {
        return kept;
      }
    } catch (IOException unreadable) {
      LOG.log(Level.ERROR, "version " + number + " cannot be read", unreadable);
    }
    throw new Refused(ProblemType.VERSION_GONE, "Version " + number + " is not kept.");
  }

  void checkUnchanged() throws Refused {
    try {
      if (!now().equals(text)) {
        throw new Refused(
            ProblemType.FILE_CHANGED,
            "Somebody changed the file since it was read. Reload it, then change it.");
      }
    } catch (IOException unreadable) {
      throw new Refused(
          ProblemType.FILE_CHANGED, "The file cannot be read: " + unreadable.getMessage());
    }
  }

  /** The next text, on the disk but not in the file yet. */
  FileDraft draft(String next) throws IOException {
    return FileDraft.write(file, next.getBytes(StandardCharsets.UTF_8));
  }

  /** The file has this text from now on, because somebody changed it through us. */
  void written(String next, String by, String comment) {
    text = next;
    keep(by, comment);
  }

  /** The file has this text from now on, because somebody else wrote it. */
  void read(String next) {
    text = next;
    try {
      Integer newest = store.newest();
      if (newest != null && next.equals(store.text(newest))) {
        isKept = true;
        return;
      }
    } catch (IOException unreadable) {
      LOG.log(Level.ERROR, "the newest version cannot be read", unreadable);
    }
    keep(ConfigStore.FILE, "");
  }

  /** A version that cannot be kept is no reason to go back: the file has the text. */
  private void keep(String by, String comment) {
    isKept = false;
    try {
      store.add(text, clock.instant(), by, comment);
      isKept = true;
    } catch (IOException full) {
      LOG.log(
          Level.ERROR,
          "the configuration is in force, but no rollback finds it: its version cannot be kept: "
              + full.getMessage());
    }
  }
}
