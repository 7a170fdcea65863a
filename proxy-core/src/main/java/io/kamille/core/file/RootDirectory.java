package io.kamille.core.file;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.ContentCoding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The files below one directory. Blocks: for threads of files, any of them. */
final class RootDirectory {

  /*
   * Symbolic links are resolved before anything is opened, and what they lead to must lie within
   * the directory, itself resolved at each request: it may be a link that a deployment swaps. So no
   * link leads out, and none to a hidden file. Only regular files are opened: to open a FIFO would
   * block.
   *
   * A file app.js may have app.js.zst, app.js.br and app.js.gz beside it. One that is older than
   * the file is passed over: it was forgotten when the file was written. So is one that is not
   * shorter, unless the client takes nothing but what is compressed. Of the others that it takes,
   * the one it likes best is sent, and the shortest if it likes them alike.
   */
  private static final String INDEX = "index.html";

  /** What is shorter is read with the opening: its head and content leave together. */
  private static final int SHORT_BYTES = 32 * 1024;

  /** What a path leads to. */
  sealed interface Found {

    /** Nothing that may be sent. */
    record Missing() implements Found {}

    /** A file that this process may not read. */
    record Forbidden() implements Found {}

    /** A directory, whose path lacks the slash at its end. */
    record Directory() implements Found {}

    /** The disk or the process is in trouble. */
    record Trouble(String why) implements Found {}

    /**
     * A file.
     *
     * @param content of a short file; null if it is to be read from {@code channel}
     * @param channel open, and the taker's to close; null if nothing is to be read
     */
    record File(FileFacts facts, @Nullable ByteBuffer content, @Nullable FileChannel channel)
        implements Found {}
  }

  private static final Found MISSING = new Found.Missing();

  private final Path root;

  RootDirectory(Path root) {
    this.root = root;
  }

  /**
   * What lies there.
   *
   * @param target as {@link FileTarget} says it
   * @param accepted the codings that the client takes ({@link AcceptedCodings})
   * @param wantsContent whether the content of a file is to be had, too
   */
  Found find(String target, long accepted, boolean wantsContent) {
    boolean isDirectory = target.isEmpty() || target.endsWith("/");
    try {
      Path top = root.toRealPath();
      Path file = top.resolve(isDirectory ? target + INDEX : target).toRealPath();
      if (!file.startsWith(top) || hasHiddenPart(top.relativize(file))) {
        return MISSING;
      }
      BasicFileAttributes attributes = attributes(file);
      if (attributes.isDirectory() && !isDirectory) {
        return new Found.Directory();
      }
      return attributes.isRegularFile()
          ? chosen(file, attributes, accepted, wantsContent)
          : MISSING;
    } catch (AccessDeniedException denied) {
      return new Found.Forbidden();
    } catch (FileSystemException | InvalidPathException missing) {
      return MISSING;
    } catch (IOException trouble) {
      return new Found.Trouble(String.valueOf(trouble.getMessage()));
    }
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static boolean hasHiddenPart(Path relative) {
    for (Path part : relative) {
      if (part.toString().startsWith(".")) {
        return true;
      }
    }
    return false;
  }

  private static Found chosen(
      Path file, BasicFileAttributes attributes, long accepted, boolean wantsContent)
      throws IOException {
    String type = MediaTypes.of(file.toString());
    Path best = file;
    BasicFileAttributes ofBest = attributes;
    ContentCoding coding = null;
    boolean varies = false;
    boolean refusesPlain = AcceptedCodings.identityWeight(accepted) == 0;
    if (MediaTypes.isCompressible(type)) {
      for (ContentCoding candidate : ContentCoding.values()) {
        Path sibling = file.resolveSibling(file.getFileName() + ending(candidate));
        BasicFileAttributes of = compressed(sibling, attributes);
        if (of != null) {
          varies = true;
          boolean isWorthwhile = of.size() < attributes.size() || refusesPlain;
          if (isWorthwhile && isBetter(candidate, of.size(), coding, ofBest.size(), accepted)) {
            best = sibling;
            ofBest = of;
            coding = candidate;
          }
        }
      }
    }
    return opened(best, ofBest, type, coding, varies, wantsContent);
  }

  private static String ending(ContentCoding coding) {
    return switch (coding) {
      case ZSTD -> ".zst";
      case BR -> ".br";
      case GZIP -> ".gz";
    };
  }

  private static @Nullable BasicFileAttributes compressed(Path sibling, BasicFileAttributes plain)
      throws IOException {
    try {
      BasicFileAttributes of = attributes(sibling);
      boolean isCurrent = of.lastModifiedTime().compareTo(plain.lastModifiedTime()) >= 0;
      return of.isRegularFile() && isCurrent && Files.isReadable(sibling) ? of : null;
    } catch (FileSystemException none) {
      return null;
    }
  }

  private static boolean isBetter(
      ContentCoding candidate,
      long length,
      @Nullable ContentCoding best,
      long lengthOfBest,
      long accepted) {
    int weight = AcceptedCodings.weight(accepted, candidate);
    int weightOfBest =
        best == null
            ? AcceptedCodings.identityWeight(accepted)
            : AcceptedCodings.weight(accepted, best);
    return weight > 0
        && (weight > weightOfBest || (weight == weightOfBest && length < lengthOfBest));
  }

  private static Found opened(
      Path file,
      BasicFileAttributes attributes,
      String type,
      @Nullable ContentCoding coding,
      boolean varies,
      boolean wantsContent)
      throws IOException {
    FileChannel channel;
    try {
      channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    } catch (AccessDeniedException | NoSuchFileException gone) {
      throw gone;
    } catch (FileSystemException trouble) {
      return new Found.Trouble(String.valueOf(trouble.getReason()));
    }
    try {
      long length = channel.size();
      FileFacts facts =
          new FileFacts(
              length,
              attributes.lastModifiedTime().to(TimeUnit.SECONDS),
              entityTag(attributes, length, coding),
              type,
              coding,
              varies);
      if (wantsContent && length > SHORT_BYTES) {
        return new Found.File(facts, null, channel);
      }
      ByteBuffer content = wantsContent ? read(channel, (int) length) : null;
      channel.close();
      return new Found.File(facts, content, null);
    } catch (IOException | RuntimeException | Error trouble) {
      channel.close();
      throw trouble;
    }
  }

  private static String entityTag(
      BasicFileAttributes attributes, long length, @Nullable ContentCoding coding) {
    return '"'
        + Long.toHexString(attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS))
        + '-'
        + Long.toHexString(length)
        + (coding == null ? "" : "-" + coding.token())
        + '"';
  }

  private static ByteBuffer read(FileChannel channel, int length) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(length);
    while (content.hasRemaining() && channel.read(content, content.position()) >= 0) {}
    if (content.hasRemaining()) {
      throw new IOException("the file became shorter while it was read");
    }
    return content.flip();
  }
}
