package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A disk whose files fail when a test says so. Any thread. */
public final class FaultyDisk implements Disk {

  /** What fails from now on. */
  public enum Fault {
    NONE,
    FULL,
    READ_ONLY,
    /** Writing waits for another fault, or none. */
    HANGING,
    UNREADABLE
  }

  private volatile Fault fault = Fault.NONE;

  @Override
  public StoreDirectory open(Path path) throws IOException {
    return new Directory(Disk.ofSystem().open(path));
  }

  public void fail(Fault fault) {
    this.fault = fault;
  }

  private void checkWritable() throws IOException {
    while (fault == Fault.HANGING) {
      LockSupport.parkNanos(1_000_000);
    }
    if (fault == Fault.READ_ONLY) {
      throw new IOException("Read-only file system");
    }
  }

  private void checkReadable() throws IOException {
    if (fault == Fault.UNREADABLE) {
      throw new IOException("Input/output error");
    }
  }

  private final class Directory implements StoreDirectory {

    private final StoreDirectory files;

    Directory(StoreDirectory files) {
      this.files = files;
    }

    @Override
    public List<String> names() throws IOException {
      return files.names();
    }

    @Override
    public StoreFile create(String name) throws IOException {
      checkWritable();
      return new File(files.create(name));
    }

    @Override
    public StoreFile open(String name) throws IOException {
      return new File(files.open(name));
    }

    @Override
    public void delete(String name) throws IOException {
      checkWritable();
      files.delete(name);
    }

    @Override
    public void close() throws IOException {
      files.close();
    }
  }

  private final class File implements StoreFile {

    private final StoreFile file;

    File(StoreFile file) {
      this.file = file;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      checkWritable();
      if (fault == Fault.FULL) {
        throw new IOException("No space left on device");
      }
      return file.write(source, position);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      checkReadable();
      return file.read(target, position);
    }

    @Override
    public @Nullable FileChannel channel() {
      return file.channel();
    }

    @Override
    public void fetch(long position, long count) throws IOException {
      checkReadable();
      file.fetch(position, count);
    }

    @Override
    public long length() throws IOException {
      return file.length();
    }

    @Override
    public void truncate(long length) throws IOException {
      checkWritable();
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
