package io.kamille.launcher.version;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/**
 * The next content of a file, on the disk beside it. Until {@link #publish} the file has the old
 * content, from then on the new one, whenever the process is killed.
 */
record FileDraft(Path file, Path draft) implements AutoCloseable {

  /** Where the kernel tells of mounts: nothing can be renamed to the name of one. */
  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

  private static final int MOUNT_POINT = 4;

  /**
   * Writes the content to the disk, with owner, group, mode, access list and label of the file.
   *
   * @throws IOException with a sentence, if that cannot be or the file may not be replaced; nothing
   *     is left of it
   */
  static FileDraft write(Path file, byte[] content) throws IOException {
    boolean isThere = Files.exists(file);
    Path real = isThere ? file.toRealPath() : file.toAbsolutePath();
    if (isThere && !Files.isWritable(real)) {
      throw new IOException(real + " is read-only for " + user());
    }
    if (isMounted(real)) {
      throw new IOException(real + " is a mount of its own: mount its directory instead");
    }
    Path draft;
    try {
      draft = isThere ? DurableFile.draftLike(real, content) : DurableFile.draft(real, content);
    } catch (IOException failed) {
      throw new IOException(
          "no file can be made in "
              + real.getParent()
              + " by "
              + user()
              + ": "
              + DurableFile.why(failed),
          failed);
    }
    try {
      if (isThere) {
        checkOwnership(real, draft);
      }
      return new FileDraft(real, draft);
    } catch (IOException failed) {
      Files.deleteIfExists(draft);
      throw failed;
    }
  }

  private static void checkOwnership(Path file, Path draft) throws IOException {
    String before = ownership(file);
    if (!ownership(draft).equals(before)) {
      throw new IOException(
          file + " (" + before + ") cannot keep owner, group and mode: " + user() + " writes it");
    }
  }

  private static String ownership(Path file) throws IOException {
    PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
    return attributes.owner().getName()
        + ":"
        + attributes.group().getName()
        + ", "
        + PosixFilePermissions.toString(attributes.permissions());
  }

  private static String user() {
    return "user " + System.getProperty("user.name");
  }

  private static boolean isMounted(Path file) {
    try (Stream<String> mounts = Files.lines(MOUNTS)) {
      String name = file.toString().replace(" ", "\\040");
      return mounts.anyMatch(mount -> mount.split(" ", MOUNT_POINT + 2)[MOUNT_POINT].equals(name));
    } catch (IOException | RuntimeException unknown) {
      return false;
    }
  }

  /** Gives the file the new content. */
  void publish() throws IOException {
    DurableFile.publish(draft, file);
  }

  /** Removes the draft if it was not published. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(draft);
  }
}
