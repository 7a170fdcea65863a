package io.kamille.core.setting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Files that are read again when one of them changes. Confined to whoever looks. */
public final class WatchedFiles {

  /*
   * A look costs one stat() for each file while all stamps stay the same. They are taken before the
   * files are read: a change while they are read shows at the next look. After a failure they are
   * read again at the next look: our free descriptors do not show in a stamp.
   */

  /** Makes something of the files. */
  @FunctionalInterface
  public interface Reading<T> {
    T read() throws IOException;
  }

  private final Set<Path> files;
  private @Nullable Map<Path, Object> seen;

  /** Those files, as if all had changed. */
  public WatchedFiles(Collection<Path> files) {
    this.files = Set.copyOf(files);
  }

  /** Whether one is another than it was when they were read, or is gone. Blocks. */
  public boolean isChanged() {
    Map<Path, Object> now = stamps();
    return now.size() < files.size() || !now.equals(seen);
  }

  /**
   * What a reading makes of the files; null if none has changed since the last one. Blocks.
   *
   * @throws IOException of the reading
   */
  public <T> @Nullable T poll(Reading<T> reading) throws IOException {
    return isChanged() ? read(reading) : null;
  }

  /** The same, whether they have changed or not. */
  public <T> T read(Reading<T> reading) throws IOException {
    Map<Path, Object> now = stamps();
    forget();
    T read = reading.read();
    seen = now;
    return read;
  }

  /** They count as read now. Blocks. */
  public void remember() {
    seen = stamps();
  }

  /** They count as changed from now on: the last reading was of no use. */
  public void forget() {
    seen = null;
  }

  /** What is another one once a file has another content, owner or mode; without those gone. */
  private Map<Path, Object> stamps() {
    Map<Path, Object> stamps = new HashMap<>();
    for (Path file : files) {
      try {
        stamps.put(file, Files.readAttributes(file, "unix:ctime,ino,size,lastModifiedTime"));
      } catch (IOException gone) {
        // It counts as changed.
      }
    }
    return stamps;
  }
}
