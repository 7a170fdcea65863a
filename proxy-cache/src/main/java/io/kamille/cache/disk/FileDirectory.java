package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** A directory of the file system, locked for as long as it is open. Any thread. */
final class FileDirectory implements StoreDirectory {

  /*
   * Two processes that write to one store would overwrite each other's segments. The lock ends with
   * the process, however that ends; and with the closing of any channel that the process has on the
   * file, so a second one must not even be opened.
   */
  private static final String LOCK = "lock";

  /*
   * What is sent there is read into the kernel's memory and copied nowhere. Opened once: a process
   * that is out of descriptors still reads.
   */
  private static final Path SINK = Path.of("/dev/null");

  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path path;
  private final FileChannel lock;
  private final FileChannel sink;

  private FileDirectory(Path path, FileChannel lock, FileChannel sink) {
    this.path = path;
    this.lock = lock;
    this.sink = sink;
  }

  /**
   * Makes the directory if need be, and locks it.
   *
   * @throws IOException if that is impossible, or another process has the lock
   */
  static FileDirectory open(Path path) throws IOException {
    Path own = Files.createDirectories(path, OWNERS_DIRECTORY).toRealPath();
    if (!OPEN.add(own)) {
      throw new IOException("this process uses it already");
    }
    try {
      return openLocked(own);
    } catch (Throwable failed) {
      OPEN.remove(own);
      throw failed;
    }
  }

  private static FileDirectory openLocked(Path path) throws IOException {
    FileChannel lock = locked(path);
    try {
      return new FileDirectory(path, lock, FileChannel.open(SINK, StandardOpenOption.WRITE));
    } catch (Throwable failed) {
      lock.close();
      throw failed;
    }
  }

  private static FileChannel locked(Path path) throws IOException {
    FileChannel lock =
        FileChannel.open(
            path.resolve(LOCK),
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
            OWNER_ONLY);
    try {
      if (lock.tryLock() == null) {
        throw new IOException("another process uses it");
      }
      return lock;
    } catch (Throwable failed) {
      lock.close();
      throw failed;
    }
  }

  @Override
  public List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals(LOCK))
          .toList();
    }
  }

  @Override
  public StoreFile create(String name) throws IOException {
    return new ChannelFile(
        FileChannel.open(
            path.resolve(name),
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            OWNER_ONLY),
        sink);
  }

  @Override
  public StoreFile open(String name) throws IOException {
    return new ChannelFile(FileChannel.open(path.resolve(name), StandardOpenOption.READ), sink);
  }

  @Override
  public void delete(String name) throws IOException {
    if (lock.isOpen()) {
      Files.deleteIfExists(path.resolve(name));
    }
  }

  /** From now on the files are another's: nothing of ours is deleted late. */
  @Override
  public void close() throws IOException {
    sink.close();
    lock.close();
    OPEN.remove(path);
  }

  @Override
  public String toString() {
    return path.toString();
  }

  private record ChannelFile(FileChannel channel, FileChannel sink) implements StoreFile {

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      return channel.write(source, position);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return channel.read(target, position);
    }

    @Override
    public long length() throws IOException {
      return channel.size();
    }

    @Override
    public void truncate(long length) throws IOException {
      channel.truncate(length);
    }

    @Override
    public void force() throws IOException {
      channel.force(false);
    }

    @Override
    public void fetch(long position, long count) throws IOException {
      long end = position + count;
      long at = position;
      long sent = 1;
      while (at < end && sent > 0) {
        sent = channel.transferTo(at, end - at, sink);
        at += sent;
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
