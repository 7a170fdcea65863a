package io.kamille.core.setting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A file that is read again when it changes. Confined to whoever looks. */
public final class WatchedFile {

  /*
   * A look costs one stat() while the file's stamp stays the same. It is taken before the file is
   * read: a change while it is read shows at the next look. A file that cannot be read is read
   * again at the next look: our free descriptors do not show in a stamp.
   */

  private final Path file;
  private final int limitBytes;
  private final SmallFile.Opener opener;
  private Map<String, Object> seen = Map.of();

  /** That file, of which more than {@code limitBytes} is refused. */
  public WatchedFile(Path file, int limitBytes) {
    this(file, limitBytes, Files::newInputStream);
  }

  /** The same, opened in another way. */
  public WatchedFile(Path file, int limitBytes, SmallFile.Opener opener) {
    this.file = file;
    this.limitBytes = limitBytes;
    this.opener = opener;
  }

  /**
   * What is in it, without a byte order mark; null if that has not changed since the last look.
   * Blocks.
   */
  public byte @Nullable [] look() throws IOException {
    Map<String, Object> before = seen;
    seen = Map.of();
    Map<String, Object> now = SmallFile.stamp(file);
    if (!now.isEmpty() && now.equals(before)) {
      seen = now;
      return null;
    }
    byte[] content = SmallFile.read(file, limitBytes, opener);
    seen = now;
    return SmallFile.withoutMark(content);
  }
}
