package io.kamille.cache.disk;

import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Machine;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.service.Inheritance;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A hard disk: each access of the files on it waits for a {@link Spindle}. */
public final class SlowDisk implements Disk {

  private static final long SEED = 1;
  private static final long NANOS_PER_MICRO = 1000;

  private final Spindle spindle;
  private final Path mark;

  private SlowDisk(Spindle spindle, Path mark) {
    this.spindle = spindle;
    this.mark = mark;
  }

  /**
   * Runs Kamille, with its store on such a disk, until the process is ended.
   *
   * @param arguments microseconds for a seek; octets per second; a file, while it is not there the
   *     disk costs nothing; the configuration file
   */
  public static void main(String[] arguments) throws Exception {
    long seekNanos = Long.parseLong(arguments[0]) * NANOS_PER_MICRO;
    var spindle = new Spindle(seekNanos, Long.parseLong(arguments[1]), SEED);
    Disk disk = new SlowDisk(spindle, Path.of(arguments[2]));
    Appliance appliance =
        Appliance.start(
            configuration(Path.of(arguments[3])),
            "slow-disk",
            Inheritance.none(),
            _ -> List.of(),
            new Machine(
                disk, Machine.HERE.names(), Machine.HERE.shedding(), Machine.HERE.network()));
    Runtime.getRuntime().addShutdownHook(new Thread(appliance::close));
    new CountDownLatch(1).await();
  }

  private static Configuration configuration(Path file) throws IOException {
    return switch (ConfigurationFile.read(file)) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new IOException(refused.toString());
    };
  }

  @Override
  public StoreDirectory open(Path path) throws IOException {
    return new SlowDirectory(Disk.ofSystem().open(path));
  }

  private boolean isSlow() {
    return Files.exists(mark);
  }

  private static void awaitNanos(long end) {
    for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
      LockSupport.parkNanos(end - now);
    }
  }

  private final class SlowDirectory implements StoreDirectory {

    private final StoreDirectory files;

    private SlowDirectory(StoreDirectory files) {
      this.files = files;
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
    public void truncate(long length) throws IOException {
      file.truncate(length);
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
