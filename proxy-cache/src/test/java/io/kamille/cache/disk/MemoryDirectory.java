package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A directory whose disk the test plays: it can be copied, cut off, damaged, and made to fail. */
final class MemoryDirectory implements StoreDirectory {

  private final Map<String, byte[]> files = new TreeMap<>();

  /** How many octets still fit. */
  private long freeBytes = Long.MAX_VALUE;

  private int writeLimit = Integer.MAX_VALUE;
  private boolean isUnreadable;
  private String unreadable = "";
  private boolean isReadOnly;
  private int fetches;

  /** What a process finds that comes after one that was killed at this moment. */
  MemoryDirectory copy() {
    MemoryDirectory copy = new MemoryDirectory();
    files.forEach((name, octets) -> copy.files.put(name, octets.clone()));
    return copy;
  }

  MemoryDirectory cutOff(String name, int length) {
    MemoryDirectory copy = copy();
    copy.files.computeIfPresent(name, (_, octets) -> Arrays.copyOf(octets, length));
    return copy;
  }

  MemoryDirectory flipped(String name, int offset, int bits) {
    MemoryDirectory copy = copy();
    copy.octets(name)[offset] ^= (byte) bits;
    return copy;
  }

  void put(String name, byte[] octets) {
    files.put(name, octets);
  }

  byte[] octets(String name) {
    return files.getOrDefault(name, new byte[0]);
  }

  List<String> segments() {
    return files.keySet().stream().filter(Segment::isName).toList();
  }

  long segmentBytes() {
    return segments().stream().mapToLong(name -> octets(name).length).sum();
  }

  /** How often octets were asked into the kernel's memory. */
  int fetches() {
    return fetches;
  }

  void becomeFull() {
    leave(10);
  }

  /** So many octets fit from now on. */
  void leave(long octets) {
    freeBytes = octets;
  }

  void becomeRoomy() {
    freeBytes = Long.MAX_VALUE;
    isReadOnly = false;
  }

  void becomeUnreadable() {
    isUnreadable = true;
  }

  /** Of that file alone nothing can be read any more. */
  void becomeUnreadable(String name) {
    unreadable = name;
  }

  void becomeReadOnly() {
    isReadOnly = true;
  }

  void writeAtMost(int octets) {
    writeLimit = octets;
  }

  @Override
  public List<String> names() {
    return List.copyOf(files.keySet());
  }

  @Override
  public StoreFile create(String name) throws IOException {
    checkWritable();
    if (files.putIfAbsent(name, new byte[0]) != null) {
      throw new IOException(name + " is there already");
    }
    return new File(name);
  }

  @Override
  public StoreFile open(String name) throws IOException {
    if (!files.containsKey(name)) {
      throw new IOException(name + " is not there");
    }
    return new File(name);
  }

  @Override
  public void delete(String name) throws IOException {
    checkWritable();
    files.remove(name);
  }

  @Override
  public void close() {}

  private void checkWritable() throws IOException {
    if (isReadOnly) {
      throw new IOException("Read-only file system");
    }
  }

  private final class File implements StoreFile {

    private final String name;

    File(String name) {
      this.name = name;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      checkWritable();
      int count = (int) Math.min(Math.min(source.remaining(), writeLimit), freeBytes);
      if (count == 0) {
        throw new IOException("No space left on device");
      }
      freeBytes -= count;
      int end = (int) position + count;
      byte[] before = octets(name);
      byte[] after = before.length >= end ? before : Arrays.copyOf(before, end);
      source.get(after, (int) position, count);
      files.put(name, after);
      return count;
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      if (isUnreadable || name.equals(unreadable)) {
        throw new IOException("Input/output error");
      }
      byte[] octets = octets(name);
      int count = (int) Math.min(target.remaining(), octets.length - position);
      if (count <= 0) {
        return -1;
      }
      target.put(octets, (int) position, count);
      return count;
    }

    @Override
    public long length() {
      return octets(name).length;
    }

    @Override
    public void truncate(long length) throws IOException {
      checkWritable();
      files.put(name, Arrays.copyOf(octets(name), (int) length));
    }

    @Override
    public void force() {}

    @Override
    public void fetch(long position, long count) {
      fetches++;
    }

    @Override
    public void close() {}
  }
}
