package io.kamille.core.setting;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A file that is read again when it changes. Confined to whoever looks. */
public final class WatchedFile {

  /*
   * A look costs one stat() while time, size and inode stay the same. They are taken before the
   * file is read: a change while it is read shows at the next look. A file that cannot be read is
   * read again at the next look: neither its owner nor our free descriptors show in a stamp.
   */

  /** Opens files to read them. */
  @FunctionalInterface
  public interface Opener {
    InputStream open(Path file) throws IOException;
  }

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final Path file;
  private final int limitBytes;
  private final Opener opener;
  private @Nullable List<?> seen;

  /** That file, of which more than {@code limitBytes} is refused. */
  public WatchedFile(Path file, int limitBytes, Opener opener) {
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
    // Who opens a pipe waits until somebody writes to it.
    if (!found.isRegularFile()) {
      throw new IOException("it is no regular file");
    }
    byte[] content;
    try (InputStream in = opener.open(file)) {
      content = in.readNBytes(limitBytes + 1);
    }
    seen = now;
    if (content.length > limitBytes) {
      throw new IOException("more than " + ByteSize.print(limitBytes));
    }
    return Arrays.mismatch(content, BYTE_ORDER_MARK) == BYTE_ORDER_MARK.length
        ? Arrays.copyOfRange(content, BYTE_ORDER_MARK.length, content.length)
        : content;
  }
}
