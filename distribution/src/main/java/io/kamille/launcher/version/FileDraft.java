package io.kamille.launcher.version;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The next content of a file, on the disk beside it. Until {@link #publish} the file has the old
 * content, from then on the new one, whenever the process is killed.
 */
final class FileDraft implements AutoCloseable {

  private final Path file;
  private final Path directory;
  private final Path draft;

  private FileDraft(Path file, Path directory, Path draft) {
    this.file = file;
    this.directory = directory;
    this.draft = draft;
  }

  /**
   * Writes the content to the disk, with the mode of the file.
   *
   * @throws IOException if it cannot be written; nothing is left of it
   */
  static FileDraft write(Path file, byte[] content) throws IOException {
    Path real = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    Path directory = parent(real);
    FileDraft draft =
        new FileDraft(
            real, directory, Files.createTempFile(directory, "." + real.getFileName(), ".draft"));
    try {
      if (Files.exists(real)) {
        Files.setPosixFilePermissions(draft.draft, Files.getPosixFilePermissions(real));
      }
      try (FileChannel channel = FileChannel.open(draft.draft, StandardOpenOption.WRITE)) {
        ByteBuffer octets = ByteBuffer.wrap(content);
        while (octets.hasRemaining()) {
          channel.write(octets);
        }
        channel.force(true);
      }
      return draft;
    } catch (IOException failed) {
      draft.close();
      throw failed;
    }
  }

  private static Path parent(Path file) throws IOException {
    @Nullable Path directory = file.getParent();
    if (directory == null) {
      throw new IOException(file + ": not a file name");
    }
    return directory;
  }

  /** Gives the file the new content. */
  void publish() throws IOException {
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Removes the draft if it was not published. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(draft);
  }
}
