package io.kamille.core.setting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A file that is read again when it changes. Confined to whoever looks. */
public final class WatchedFile {

  /*
   * A look costs one stat() while time, size and inode stay the same. They are taken before the
   * file is read: a change while it is read shows at the next look. A file that cannot be read is
   * read again at the next look: neither its owner nor our free descriptors show in a stamp.
   */

  private final Path file;
  private final int limitBytes;
  private final SmallFile.Opener opener;
  private @Nullable List<?> seen;

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
    List<?> before = seen;
    seen = null;
    var found = Files.readAttributes(file, BasicFileAttributes.class);
    List<?> now = List.of(found.lastModifiedTime(), found.size(), String.valueOf(found.fileKey()));
    if (now.equals(before)) {
      seen = now;
      return null;
    }
    byte[] content = SmallFile.read(file, found, limitBytes, opener);
    seen = now;
    return SmallFile.withoutMark(content);
  }
}
