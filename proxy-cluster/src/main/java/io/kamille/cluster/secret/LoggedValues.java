package io.kamille.cluster.secret;

import io.kamille.cluster.engine.ClusterEngine;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The sealed values that the log has, by name. Any thread. */
public final class LoggedValues {

  /*
   * An entry is the length of a name, the name, and what it has from now on; nothing removes it.
   * Whoever is a member may append one, so their number and size have limits. What is over them, or
   * no entry at all, changes nothing, at any node.
   */

  /** The first octet of an entry with a value. */
  public static final byte KIND = 4;

  static final int MOST = 10_000;
  static final int MOST_OCTETS = 16 << 20;
  static final int MOST_OCTETS_OF_ONE = 64 << 10;
  private static final int MOST_OCTETS_OF_NAME = 1 << 10;

  private final SortedMap<String, byte[]> values = new TreeMap<>();
  private long octets;
  private long last;

  static byte[] entry(String name, byte[] value) {
    byte[] named = name.getBytes(StandardCharsets.UTF_8);
    if (named.length > Short.MAX_VALUE) {
      throw new IllegalArgumentException("a name of " + named.length + " octets");
    }
    return ByteBuffer.allocate(1 + Short.BYTES + named.length + value.length)
        .put(KIND)
        .putShort((short) named.length)
        .put(named)
        .put(value)
        .array();
  }

  /**
   * Reads an entry, without its first octet.
   *
   * @return takes it, and answers the number of the change; 0 if it is refused
   */
  public Supplier<byte[]> read(DataInputStream in) throws IOException {
    ByteBuffer entry = ByteBuffer.wrap(in.readAllBytes());
    return () -> apply(entry);
  }

  private synchronized byte[] apply(ByteBuffer entry) {
    long number = take(entry) ? last : 0;
    return ClusterEngine.octets(number);
  }

  private boolean take(ByteBuffer entry) {
    int length = entry.remaining() < Short.BYTES ? -1 : entry.getShort();
    if (length < 0
        || length > Math.min(MOST_OCTETS_OF_NAME, entry.remaining())
        || entry.remaining() - length > MOST_OCTETS_OF_ONE) {
      return false;
    }
    byte[] name = new byte[length];
    byte[] value = new byte[entry.remaining() - length];
    entry.get(name).get(value);
    String text = new String(name, StandardCharsets.UTF_8);
    // Else a snapshot would have another name.
    return Arrays.equals(name, text.getBytes(StandardCharsets.UTF_8)) && put(text, value);
  }

  private boolean put(String name, byte[] value) {
    byte[] before = values.get(name);
    long now = octets - size(name, before) + size(name, value);
    if (value.length > 0 && (now > MOST_OCTETS || (before == null && values.size() >= MOST))) {
      return false;
    }
    if (value.length == 0) {
      values.remove(name);
    } else {
      values.put(name, value);
    }
    octets = now;
    last++;
    notifyAll();
    return true;
  }

  private static long size(String name, byte @Nullable [] value) {
    return value == null || value.length == 0 ? 0 : (long) name.length() + value.length;
  }

  synchronized byte @Nullable [] get(String name) {
    return values.get(name);
  }

  synchronized Map<String, byte[]> under(String prefix) {
    return new TreeMap<>(values.subMap(prefix, prefix + Character.MAX_VALUE));
  }

  /** Waits until the change of that number is made here; whether it is by then. */
  synchronized boolean await(long number, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    for (long left = limit.toMillis(); last < number && left > 0; ) {
      wait(left);
      left = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
    }
    return last >= number;
  }

  /** Writes all of them. */
  public synchronized void save(DataOutputStream out) throws IOException {
    out.writeLong(last);
    out.writeInt(values.size());
    for (Map.Entry<String, byte[]> each : values.entrySet()) {
      byte[] entry = entry(each.getKey(), each.getValue());
      out.writeInt(entry.length);
      out.write(entry);
    }
  }

  /** Takes what was written in the place of all of them. */
  public synchronized void load(DataInputStream in) throws IOException {
    clear();
    long number = in.readLong();
    for (int i = in.readInt(); i > 0; i--) {
      byte[] entry = in.readNBytes(in.readInt());
      take(ByteBuffer.wrap(entry).position(Math.min(1, entry.length)));
    }
    last = number;
    notifyAll();
  }

  /** Forgets all: the log is played again. */
  public synchronized void clear() {
    values.clear();
    octets = 0;
    last = 0;
  }
}
