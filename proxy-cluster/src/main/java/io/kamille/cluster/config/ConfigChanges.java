package io.kamille.cluster.config;

import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile.Place;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The last change of the configuration that the log has. Any thread. */
public final class ConfigChanges {

  /*
   * A change says all that is to be in force, so the last one is enough, and is numbered by those
   * before it. An entry that was appended a second time is known by its id.
   */

  /** How many ids are kept, for entries that come again. */
  static final int KEPT = 100;

  static final int LIMIT_BYTES = 4 << 20;

  /**
   * A change.
   *
   * @param log of which it is
   */
  record Change(long log, long number, String text) {}

  // Of the last changes, the newest last.
  private final Deque<Long> ids = new ArrayDeque<>();
  private long log;
  private long last;
  private String text = "";

  /** An entry with a change. */
  static byte[] entry(long id, long base, byte[] text) {
    return ByteBuffer.allocate(1 + 2 * Long.BYTES + text.length)
        .put(KIND)
        .putLong(id)
        .putLong(base)
        .put(text)
        .array();
  }

  /** The first octet of an entry with a change. */
  public static final byte KIND = 3;

  /** The number of the last change. */
  public synchronized long last() {
    return last;
  }

  /**
   * Reads an entry, without its first octet.
   *
   * @return takes it, and answers the number of the change; 0 if it is based on another than the
   *     last one
   */
  public Supplier<byte[]> read(DataInputStream in) throws IOException {
    long id = in.readLong();
    long base = in.readLong();
    byte[] next = in.readAllBytes();
    return () -> apply(id, base, next);
  }

  private synchronized byte[] apply(long id, long base, byte[] next) {
    long number = numberOf(id);
    if (number == 0 && base == last && next.length <= LIMIT_BYTES && isText(next)) {
      log = log == 0 ? id : log;
      number = ++last;
      text = new String(next, StandardCharsets.UTF_8);
      ids.addLast(id);
      if (ids.size() > KEPT) {
        ids.removeFirst();
      }
      notifyAll();
    }
    return ClusterEngine.octets(number);
  }

  /** The number of the change with that id; 0 if it is not known. */
  private long numberOf(long id) {
    long number = last - ids.size();
    for (long each : ids) {
      number++;
      if (each == id) {
        return number;
      }
    }
    return 0;
  }

  /** Else a snapshot would have another text, and perhaps a longer one than its reader takes. */
  private static boolean isText(byte[] text) {
    return Arrays.equals(
        text, new String(text, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8));
  }

  /** The number of that place, if it is one of this log; else 0. */
  synchronized long numberOf(Place place) {
    return place.log() == log ? place.number() : 0;
  }

  /** Waits until the last change comes after that place; null if it does not so soon. */
  synchronized @Nullable Change after(Place place, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (numberOf(place) >= last) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return null;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return new Change(log, last, text);
  }

  /** Writes all that is kept. */
  public synchronized void save(DataOutputStream out) throws IOException {
    out.writeLong(log);
    out.writeLong(last);
    out.writeInt(ids.size());
    for (long id : ids) {
      out.writeLong(id);
    }
    byte[] octets = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(octets.length);
    out.write(octets);
  }

  /** Takes what was written in the place of all that is kept. */
  public synchronized void load(DataInputStream in) throws IOException {
    clear();
    log = in.readLong();
    last = in.readLong();
    for (int i = in.readInt(); i > 0; i--) {
      ids.addLast(in.readLong());
    }
    int length = in.readInt();
    if (length < 0 || length > LIMIT_BYTES) {
      throw new IOException("a change of " + length + " octets");
    }
    text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    notifyAll();
  }

  /** Forgets all: the log is played again. */
  public synchronized void clear() {
    ids.clear();
    log = 0;
    last = 0;
    text = "";
  }
}
