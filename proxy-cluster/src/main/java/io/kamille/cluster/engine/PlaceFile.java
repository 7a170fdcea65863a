package io.kamille.cluster.engine;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Up to which place of which log this node has done something that outlives it. Any thread. */
public final class PlaceFile implements AutoCloseable {

  /**
   * A place in a log.
   *
   * @param log the random number of that log; 0 for none
   * @param number of what stands there
   */
  public record Place(long log, long number) {

    public static final Place NONE = new Place(0, 0);
  }

  private static final System.Logger LOG = System.getLogger("kamille.cluster");

  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Path file;
  private final AtomicBoolean isDue = new AtomicBoolean();
  private volatile Place last = Place.NONE;
  private boolean isClosed;

  public PlaceFile(Path file) {
    this.file = file;
  }

  /** What an earlier process has written; no place if it cannot be read. */
  public Place read() {
    try {
      ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
      return in.remaining() == 2 * Long.BYTES ? new Place(in.getLong(), in.getLong()) : Place.NONE;
    } catch (IOException none) {
      return Place.NONE;
    }
  }

  /** Takes that place down, and waits for it. */
  public void write(Place place) {
    last = place;
    writeLast();
  }

  /** Takes it down a moment later on another thread, the last of several alone. */
  public void writeSoon(Place place) {
    last = place;
    if (!isDue.getAndSet(true)) {
      Thread.startVirtualThread(
          () -> {
            LockSupport.parkNanos(PAUSE.toNanos());
            isDue.set(false);
            writeLast();
          });
    }
  }

  /** Writes what is due now, and nothing from then on: the file is that of the next process. */
  @Override
  public synchronized void close() {
    if (isDue.getAndSet(false)) {
      writeLast();
    }
    isClosed = true;
  }

  private synchronized void writeLast() {
    if (isClosed) {
      return;
    }
    Place place = last;
    byte[] octets = new byte[2 * Long.BYTES];
    ByteBuffer.wrap(octets).putLong(place.log()).putLong(place.number());
    replace(file, octets);
  }

  /** Has a file hold these octets, or what it held before. */
  public static void replace(Path file, byte[] octets) {
    try {
      // A name that points to nothing after a power cut would be no place at all.
      DurableFile.replace(file, octets);
    } catch (IOException refused) {
      LOG.log(Level.WARNING, "the next process will not know it: {0}", refused.getMessage());
    }
  }
}
