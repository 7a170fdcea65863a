package io.kamille.launcher.version;

import io.kamille.admin.auth.PrivateFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The next content of a file, on the disk beside it. Until {@link #publish} the file has the old
 * content, from then on the new one, whenever the process is killed.
 */
record FileDraft(Path file, Path draft) implements AutoCloseable {

  /**
   * Writes the content to the disk, with the mode of the file.
   *
   * @throws IOException if it cannot be written; nothing is left of it
   */
  static FileDraft write(Path file, byte[] content) throws IOException {
    boolean isThere = Files.exists(file);
    Path real = isThere ? file.toRealPath() : file.toAbsolutePath();
    FileDraft draft = new FileDraft(real, PrivateFile.draft(real, content));
    try {
      if (isThere) {
        Files.setPosixFilePermissions(draft.draft, Files.getPosixFilePermissions(real));
      }
      return draft;
    } catch (IOException failed) {
      draft.close();
      throw failed;
    }
  }

  /** Gives the file the new content. */
  void publish() throws IOException {
    PrivateFile.publish(draft, file);
  }

  /** Removes the draft if it was not published. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(draft);
  }
}
