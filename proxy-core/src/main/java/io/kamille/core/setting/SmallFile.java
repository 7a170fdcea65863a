package io.kamille.core.setting;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;

/** Reads the small files that settings name. Stateless; any thread. */
public final class SmallFile {

  /*
   * A text that somebody validates may name any file, and one thread reads for all. So only regular
   * files are opened: a pipe or a device may wait for ever. Some files of the kernel wait, too, but
   * they have no length: no more octets are read than the length says.
   */

  /** Opens files to read them. */
  @FunctionalInterface
  public interface Opener {
    InputStream open(Path file) throws IOException;
  }

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private SmallFile() {}

  /**
   * All octets of a file.
   *
   * @throws IOException if it cannot be read, is no regular file or has more than {@code
   *     limitBytes}; {@link Problems#reason} says why
   */
  public static byte[] read(Path file, int limitBytes) throws IOException {
    return read(file, limitBytes, Files::newInputStream);
  }

  /** The same, opened in another way. */
  public static byte[] read(Path file, int limitBytes, Opener opener) throws IOException {
    var found = Files.readAttributes(file, BasicFileAttributes.class);
    if (!found.isRegularFile()) {
      throw new IOException("it is no regular file");
    }
    if (found.size() > limitBytes) {
      throw new IOException("more than " + ByteSize.print(limitBytes));
    }
    try (InputStream in = opener.open(file)) {
      return in.readNBytes((int) found.size());
    }
  }

  /** The same as text in UTF-8, which may begin with a byte order mark. */
  public static String text(Path file, int limitBytes) throws IOException {
    return text(read(file, limitBytes));
  }

  /**
   * Octets of a file as text in UTF-8.
   *
   * @throws IOException with the line that is none
   */
  public static String text(byte[] content) throws IOException {
    byte[] octets = withoutMark(content);
    ByteBuffer left = ByteBuffer.wrap(octets);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(left).toString();
    } catch (CharacterCodingException wrong) {
      int line = 1;
      for (int i = 0; i < left.position(); i++) {
        line += octets[i] == '\n' ? 1 : 0;
      }
      throw new IOException("line " + line + ": expected: UTF-8 text", wrong);
    }
  }

  /** The same without the byte order mark that it may begin with. */
  public static byte[] withoutMark(byte[] content) {
    return Arrays.mismatch(content, BYTE_ORDER_MARK) == BYTE_ORDER_MARK.length
        ? Arrays.copyOfRange(content, BYTE_ORDER_MARK.length, content.length)
        : content;
  }
}
