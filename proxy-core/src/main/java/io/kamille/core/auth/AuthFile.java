package io.kamille.core.auth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/** A file that checks go by. It is read again when it changes. */
final class AuthFile<T> extends AuthSource<T> {

  /*
   * A look costs one stat() while time, size and inode stay the same. They are taken before the
   * file is read: a change while it is read shows at the next look. One that cannot be read is read
   * again each time.
   */
  static final int LIMIT_BYTES = 1 << 20;

  /** Makes a value of what is in the file. */
  @FunctionalInterface
  interface Parser<T> {
    T parse(byte[] content) throws IOException;
  }

  private record Stamp(FileTime time, long size, @Nullable Object inode) {}

  private final Path file;
  private final Parser<T> parser;
  private @Nullable Stamp seen;

  private AuthFile(Path file, Parser<T> parser) {
    super(file.toString());
    this.file = file;
    this.parser = parser;
  }

  /**
   * That file, which is right.
   *
   * @throws IOException if it cannot be read, or is not right
   */
  static <T> AuthFile<T> open(Path file, Parser<T> parser) throws IOException {
    AuthFile<T> opened = new AuthFile<>(file, parser);
    opened.read(stamp(file));
    return opened;
  }

  @Override
  void look(long nowNanos) {
    try {
      Stamp now = stamp(file);
      if (!now.equals(seen)) {
        read(now);
      }
    } catch (IOException wrong) {
      keep(String.valueOf(wrong.getMessage()));
    }
  }

  private static Stamp stamp(Path file) throws IOException {
    try {
      var found = Files.readAttributes(file, BasicFileAttributes.class);
      if (!found.isRegularFile()) {
        throw new IOException(file + ": it is no regular file");
      }
      return new Stamp(found.lastModifiedTime(), found.size(), found.fileKey());
    } catch (NoSuchFileException gone) {
      throw new IOException(file + ": no file of this name", gone);
    }
  }

  private void read(Stamp now) throws IOException {
    byte[] content;
    seen = null;
    try (var in = Files.newInputStream(file)) {
      content = in.readNBytes(LIMIT_BYTES + 1);
    }
    seen = now;
    if (content.length > LIMIT_BYTES) {
      throw new IOException(file + ": more than 1 MiB");
    }
    try {
      replace(parser.parse(content));
    } catch (IOException wrong) {
      throw new IOException(file + ": " + wrong.getMessage(), wrong);
    }
  }
}
