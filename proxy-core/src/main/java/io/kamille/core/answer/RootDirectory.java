package io.kamille.core.answer;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.ContentCoding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The files below one directory. Blocks: for threads of files, any of them. */
final class RootDirectory {

  /*
   * Symbolic links are resolved before anything is opened, and what they lead to must lie within
   * the directory, itself resolved at each request: it may be a link that a deployment swaps. So no
   * link leads out, and none to a hidden file. Only regular files are opened: to open a FIFO would
   * block. The facts of a file are read again after it was opened. If another one lies there by
   * then, all is looked for again, so that no tag goes with the content of another file. A tag is
   * made of the time of the last write, which tools set as they like, of the time the inode changed,
   * which nobody can set, of the inode itself, and the length.
   *
   * Only what cannot be there is missing. A disk or a network file system that fails is trouble:
   * caches keep a 404. Java names neither ENOTDIR nor ENAMETOOLONG, so both are found out by looking.
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

  /** How often a file is looked for that is replaced each time. */
  private static final int TRIES = 5;

  // What Linux takes: NAME_MAX, PATH_MAX.
  private static final int LONGEST_NAME = 255;
  private static final int LONGEST_PATH = 4_095;

  /** How files are looked for and opened. */
  interface Opener {
    FileChannel open(Path file) throws IOException;

    default boolean exists(Path file) {
      return Files.exists(file);
    }
  }

  private final Path root;
  private final Opener opener;

  RootDirectory(Path root) {
    this(root, file -> FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  RootDirectory(Path root, Opener opener) {
    this.root = root;
    this.opener = opener;
  }

  /**
   * What lies there.
   *
   * @param target as {@link FileTarget} says it
   * @param accepted the codings that the client takes ({@link AcceptedCodings})
   * @param wantsContent whether the content of a file is to be had, too
   */
  Found find(String target, long accepted, boolean wantsContent) {
    try {
      Found found = null;
      for (int tries = 0; found == null && tries < TRIES; tries++) {
        found = findNow(target, accepted, wantsContent);
      }
      return found == null ? new Found.Trouble("it is replaced all the time") : found;
    } catch (AccessDeniedException denied) {
      return new Found.Forbidden();
    } catch (NoSuchFileException | InvalidPathException missing) {
      return MISSING;
    } catch (FileSystemException trouble) {
      return new Found.Trouble(String.valueOf(trouble.getReason()));
    } catch (IOException trouble) {
      return new Found.Trouble(String.valueOf(trouble.getMessage()));
    }
  }

  /** The same, or null if the file was replaced meanwhile. */
  private @Nullable Found findNow(String target, long accepted, boolean wantsContent)
      throws IOException {
    boolean isDirectory = target.isEmpty() || target.endsWith("/");
    Path top = root.toRealPath();
    Path file = real(top, top.resolve(isDirectory ? target + INDEX : target));
    if (!file.startsWith(top) || FileTarget.isHidden(top.relativize(file).toString())) {
      return MISSING;
    }
    BasicFileAttributes attributes = attributes(file);
    if (attributes.isDirectory() && !isDirectory) {
      return new Found.Directory();
    }
    return attributes.isRegularFile() ? chosen(file, attributes, accepted, wantsContent) : MISSING;
  }

  private Path real(Path top, Path file) throws IOException {
    try {
      return file.toRealPath();
    } catch (NoSuchFileException | AccessDeniedException clear) {
      throw clear;
    } catch (FileSystemException failed) {
      if (isTooLong(file) || isBelowFile(top, file)) {
        throw new NoSuchFileException(file.toString());
      }
      throw failed;
    }
  }

  private static boolean isTooLong(Path file) {
    boolean isTooLong = octets(file) > LONGEST_PATH;
    for (Path name : file) {
      isTooLong |= octets(name) > LONGEST_NAME;
    }
    return isTooLong;
  }

  private static int octets(Path path) {
    return path.toString().getBytes(StandardCharsets.UTF_8).length;
  }

  /** Looks for the deepest that exists by halves: a path may have two thousand segments. */
  private boolean isBelowFile(Path top, Path file) {
    Path deepest = top;
    int from = top.getNameCount();
    for (int to = file.getNameCount() - 1; from < to; ) {
      int middle = (from + to + 1) / 2;
      Path above = top.resolve(file.subpath(top.getNameCount(), middle));
      if (opener.exists(above)) {
        deepest = above;
        from = middle;
      } else {
        to = middle - 1;
      }
    }
    return !deepest.equals(top) && !Files.isDirectory(deepest);
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private @Nullable Found chosen(
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

  private @Nullable Found opened(
      Path file,
      BasicFileAttributes attributes,
      String type,
      @Nullable ContentCoding coding,
      boolean varies,
      boolean wantsContent)
      throws IOException {
    FileChannel channel = opener.open(file);
    try {
      BasicFileAttributes now = attributes(file);
      if (!Objects.equals(now.fileKey(), attributes.fileKey())) {
        channel.close();
        return null;
      }
      long length = channel.size();
      FileFacts facts =
          new FileFacts(
              length,
              now.lastModifiedTime().to(TimeUnit.SECONDS),
              entityTag(file, now, length, coding),
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
      Path file, BasicFileAttributes attributes, long length, @Nullable ContentCoding coding)
      throws IOException {
    Object changed = Files.getAttribute(file, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
    long version =
        mixed(instant(attributes.lastModifiedTime()))
            ^ mixed(~instant((FileTime) changed))
            ^ mixed(String.valueOf(attributes.fileKey()).hashCode());
    return '"'
        + Long.toHexString(version)
        + '-'
        + Long.toHexString(length)
        + (coding == null ? "" : "-" + coding.token())
        + '"';
  }

  /** All 96 bits of a time count: builds give all their files one date, also an impossible one. */
  private static long instant(FileTime time) {
    Instant instant = time.toInstant();
    return mixed(instant.getEpochSecond()) + instant.getNano();
  }

  /** The finalizer of SplitMix64 (Steele, Lea, Flood, 2014), which hides what it is made of. */
  private static long mixed(long value) {
    long z = (value + 0x9E37_79B9_7F4A_7C15L) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return z ^ (z >>> 31);
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
