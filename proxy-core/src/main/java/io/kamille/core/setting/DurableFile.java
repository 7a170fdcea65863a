package io.kamille.core.setting;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files that only their owner may read and that a crash leaves old or new, never broken. */
public final class DurableFile {

  private static final FileAttribute<Set<PosixFilePermission>> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private DurableFile() {}

  /**
   * Replaces the content of a file: when this returns, the new content survives a crash; before,
   * the old one does.
   *
   * @throws IOException if it cannot be written; the old content stays
   */
  public static void replace(Path file, byte[] content) throws IOException {
    Path draft = draft(file, content);
    try {
      publish(draft, file);
    } catch (IOException failed) {
      Files.deleteIfExists(draft);
      throw failed;
    }
  }

  /**
   * Writes a content to the disk, in a file beside that one.
   *
   * @return the file with the content, the caller's to publish or to delete
   * @throws IOException if it cannot be written; nothing is left of it
   */
  public static Path draft(Path file, byte[] content) throws IOException {
    return draft(file, content, false);
  }

  /**
   * The same with the mode, the access list and the label of the file, and with its owner and its
   * group if this process may give them.
   */
  public static Path draftLike(Path file, byte[] content) throws IOException {
    return draft(file, content, true);
  }

  private static Path draft(Path file, byte[] content, boolean isLike) throws IOException {
    Path draft =
        Files.createTempFile(createDirectory(file), "." + file.getFileName(), ".draft", MODE);
    try {
      if (isLike) {
        // A copy has the extended attributes, too: access lists and labels are among them.
        Files.copy(
            file, draft, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
      }
      try (FileChannel channel =
          FileChannel.open(draft, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
        ByteBuffer octets = ByteBuffer.wrap(content);
        while (octets.hasRemaining()) {
          channel.write(octets);
        }
        if (isLike) {
          // The copy has it only if it could have the owner, which a sandbox may forbid to try.
          Files.setPosixFilePermissions(draft, Files.getPosixFilePermissions(file));
        }
        channel.force(true);
      }
      return draft;
    } catch (IOException failed) {
      Files.deleteIfExists(draft);
      throw failed;
    }
  }

  /** Gives a file the content of a draft, which is gone then. */
  public static void publish(Path draft, Path file) throws IOException {
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    sync(createDirectory(file));
  }

  /** In words, why something could not be done with a file, without its name. */
  public static String why(IOException failed) {
    return switch (failed) {
      case AccessDeniedException _ -> "no permission";
      case NoSuchFileException _ -> "no such file or directory";
      case FileAlreadyExistsException _ -> "a file of that name is no directory";
      case FileSystemException known when known.getReason() != null -> known.getReason();
      default -> String.valueOf(failed.getMessage());
    };
  }

  /** Opens a file to read and write, after creating it and its directory if need be. */
  public static FileChannel open(Path file) throws IOException {
    createDirectory(file);
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
        MODE);
  }

  /**
   * Keeps other processes from changing a file until this is closed: all that change it ask here
   * before. The lock is on a file beside it, because the file itself is replaced.
   */
  public static FileChannel lock(Path file) throws IOException {
    FileChannel gate = open(file.resolveSibling(file.getFileName() + ".lock"));
    try {
      // The channel that is returned holds it.
      FileLock _ = gate.lock();
      return gate;
    } catch (IOException | RuntimeException refused) {
      gate.close();
      throw refused;
    }
  }

  private static Path createDirectory(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null) {
      throw new IOException(file + ": not a file name");
    }
    Files.createDirectories(directory, DIRECTORY_MODE);
    return directory;
  }

  /** Makes the names in a directory survive a crash. */
  private static void sync(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
