package io.kamille.cluster.purge;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Up to which purge of which log this node has purged what outlives its process. Any thread. */
public final class AppliedFile {

  private static final System.Logger LOG = System.getLogger("kamille.cluster");

  /**
   * How far.
   *
   * @param log the random number of that log; 0 for none
   */
  public record Applied(long log, long number) {

    public static final Applied NOTHING = new Applied(0, 0);
  }

  private final Path file;
  private final AtomicBoolean isWriting = new AtomicBoolean();
  private volatile boolean wasRefused;
  private volatile Applied last = Applied.NOTHING;

  public AppliedFile(Path file) {
    this.file = file;
  }

  /** What an earlier process has written; nothing if it cannot be read. */
  public Applied read() {
    try {
      ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
      last = in.remaining() == 2 * Long.BYTES ? new Applied(in.getLong(), in.getLong()) : last;
    } catch (IOException none) {
      // Then all purges that the log has are applied again.
    }
    return last;
  }

  /** Takes it down soon, on another thread, the last of several alone. */
  void write(Applied applied) {
    last = applied;
    if (isWriting.compareAndSet(false, true)) {
      Thread.startVirtualThread(this::write);
    }
  }

  private void write() {
    Applied written = null;
    while (!last.equals(written)) {
      written = last;
      store(written);
      if (last.equals(written)) {
        isWriting.set(false);
        if (last.equals(written) || !isWriting.compareAndSet(false, true)) {
          return;
        }
      }
    }
    isWriting.set(false);
  }

  private void store(@Nullable Applied applied) {
    if (applied == null) {
      return;
    }
    byte[] octets = new byte[2 * Long.BYTES];
    ByteBuffer.wrap(octets).putLong(applied.log()).putLong(applied.number());
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    try {
      Files.write(beside, octets);
      Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
      wasRefused = false;
    } catch (IOException refused) {
      if (wasRefused) {
        return;
      }
      wasRefused = true;
      LOG.log(Level.WARNING, "a restart will purge again: {0}", refused.getMessage());
    }
  }
}
