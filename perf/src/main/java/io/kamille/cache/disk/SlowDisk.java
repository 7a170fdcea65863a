package io.kamille.cache.disk;

import io.kamille.launcher.Main;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The files of a store as if they lay on a hard disk: each access waits for a {@link Spindle}. */
public final class SlowDisk implements StoreDirectory {

  private static final int OWN_ARGUMENTS = 3;
  private static final long SEED = 1;
  private static final long NANOS_PER_MICRO = 1000;

  private final StoreDirectory files;
  private final Spindle spindle;
  private final Path mark;

  private SlowDisk(StoreDirectory files, Spindle spindle, Path mark) {
    this.files = files;
    this.spindle = spindle;
    this.mark = mark;
  }

  /**
   * Runs Kamille, with its store on such a disk.
   *
   * @param arguments microseconds for a seek; octets per second; a file, while it is not there the
   *     disk costs nothing; then what {@code kamille} is given
   */
  public static void main(String[] arguments) {
    long seekNanos = Long.parseLong(arguments[0]) * NANOS_PER_MICRO;
    var spindle = new Spindle(seekNanos, Long.parseLong(arguments[1]), SEED);
    Path mark = Path.of(arguments[2]);
    StoreOpening.openThrough(files -> new SlowDisk(files, spindle, mark));
    Main.main(Arrays.copyOfRange(arguments, OWN_ARGUMENTS, arguments.length));
  }

  private boolean isSlow() {
    return Files.exists(mark);
  }

  private static void awaitNanos(long end) {
    for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
      LockSupport.parkNanos(end - now);
    }
  }

  @Override
  public List<String> names() throws IOException {
    return files.names();
  }

  @Override
  public StoreFile create(String name) throws IOException {
    return new SlowFile(files.create(name), name);
  }

  @Override
  public StoreFile open(String name) throws IOException {
    return new SlowFile(files.open(name), name);
  }

  @Override
  public void delete(String name) throws IOException {
    files.delete(name);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }

  @Override
  public String toString() {
    return files.toString();
  }

  private final class SlowFile implements StoreFile {

    private final StoreFile file;
    private final String name;

    private SlowFile(StoreFile file, String name) {
      this.file = file;
      this.name = name;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      if (isSlow()) {
        awaitNanos(spindle.write(source.remaining(), System.nanoTime()));
      }
      return file.write(source, position);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      if (isSlow()) {
        awaitNanos(spindle.read(name, position, target.remaining(), System.nanoTime()));
      }
      return file.read(target, position);
    }

    @Override
    public @Nullable FileChannel channel() {
      return file.channel();
    }

    @Override
    public void fetch(long position, long count) throws IOException {
      if (isSlow()) {
        int read = Math.toIntExact(count);
        awaitNanos(spindle.read(name, position, read, System.nanoTime()));
      }
      file.fetch(position, count);
    }

    @Override
    public long length() throws IOException {
      return file.length();
    }

    @Override
    public void force() throws IOException {
      file.force();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
