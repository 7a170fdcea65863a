package io.kamille.launcher.appliance;

import io.kamille.admin.StateDirectory;
import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** That one process at a time has a state directory. One thread. */
public final class StateLock implements AutoCloseable {

  /*
   * The kernel gives the lock up when the process ends, however it ends. A process that takes the
   * place of another one waits for it in the background: until then, the lock of that one keeps
   * others out. The file names who has it.
   */
  private static final System.Logger LOG = System.getLogger("kamille.appliance");
  private static final String NAME = "lock";

  private final @Nullable FileChannel channel;

  private StateLock(@Nullable FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes the state directory.
   *
   * @param isSuccessor whether the process that has it gives us its place
   * @param isNeeded whether nothing goes without it; otherwise a warning is enough
   * @throws StartFailure if another process has it, or it cannot be used
   */
  public static StateLock take(boolean isSuccessor, boolean isNeeded) throws StartFailure {
    if (!StateDirectory.isKnown()) {
      throw new StartFailure(StartFailure.Cause.FILE, StateDirectory.UNKNOWN);
    }
    Path directory = StateDirectory.path();
    try {
      FileChannel channel = DurableFile.open(directory.resolve(NAME));
      if (isSuccessor) {
        Thread.ofPlatform().daemon().name("kamille-lock").start(() -> await(channel));
      } else if (!isTaken(channel)) {
        String other = Files.readString(directory.resolve(NAME)).strip();
        channel.close();
        throw new StartFailure(
            StartFailure.Cause.ADDRESS,
            "another Kamille (process " + other + ") uses this state directory: " + directory);
      }
      return new StateLock(channel);
    } catch (IOException failed) {
      String sentence =
          "cannot use the state directory "
              + directory
              + ": "
              + DurableFile.why(failed)
              + " (STATE_DIRECTORY names another one)";
      if (isNeeded) {
        throw new StartFailure(StartFailure.Cause.FILE, sentence);
      }
      LOG.log(Level.WARNING, sentence);
      return new StateLock(null);
    }
  }

  private static boolean isTaken(FileChannel channel) throws IOException {
    try {
      if (channel.tryLock() == null) {
        return false;
      }
    } catch (OverlappingFileLockException oneOfOurs) {
      return false;
    }
    sign(channel);
    return true;
  }

  private static void await(FileChannel channel) {
    try {
      channel.lock();
      sign(channel);
    } catch (IOException closed) {
      // The process ends.
    }
  }

  /** On a full disk, the lock holds without a name. */
  private static void sign(FileChannel channel) {
    byte[] name = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
    try {
      channel.truncate(0).write(ByteBuffer.wrap(name), 0);
    } catch (IOException full) {
      LOG.log(Level.DEBUG, NAME, full);
    }
  }

  /** Gives it up. */
  @Override
  public void close() {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException failed) {
      LOG.log(Level.DEBUG, NAME, failed);
    }
  }
}
