package io.kamille.cluster.config;

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

/** The changes of the configuration that the log has, numbered. Any thread. */
public final class ConfigChanges {

  /** How many are kept for nodes that were away. */
  static final int KEPT = 100;

  private static final int LIMIT_BYTES = 4 << 20;

  private record Kept(long number, long id, String text) {}

  /**
   * A change.
   *
   * @param isMissed whether others came before it that are kept no more
   */
  record Change(long log, long number, String text, boolean isMissed) {}

  private final Deque<Kept> kept = new ArrayDeque<>();
  private long log;
  private long last;

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
    byte[] text = in.readAllBytes();
    return () -> apply(id, base, text);
  }

  private synchronized byte[] apply(long id, long base, byte[] text) {
    long number =
        kept.stream().filter(each -> each.id() == id).mapToLong(Kept::number).findFirst().orElse(0);
    if (number == 0 && base == last && text.length <= LIMIT_BYTES && isText(text)) {
      log = log == 0 ? id : log;
      number = ++last;
      kept.addLast(new Kept(number, id, new String(text, StandardCharsets.UTF_8)));
      if (kept.size() > KEPT) {
        kept.removeFirst();
      }
      notifyAll();
    }
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
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

  /** Waits for the change that comes after that place; null if it has not come so soon. */
  synchronized @Nullable Change after(Place place, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      long before = numberOf(place);
      for (Kept each : kept) {
        if (each.number() > before) {
          boolean isMissed = before > 0 && each.number() > before + 1;
          return new Change(log, each.number(), each.text(), isMissed);
        }
      }
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return null;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
  }

  /** Writes all that is kept. */
  public synchronized void save(DataOutputStream out) throws IOException {
    out.writeLong(log);
    out.writeLong(last);
    out.writeInt(kept.size());
    for (Kept each : kept) {
      out.writeLong(each.number());
      out.writeLong(each.id());
      byte[] text = each.text().getBytes(StandardCharsets.UTF_8);
      out.writeInt(text.length);
      out.write(text);
    }
  }

  /** Takes what was written in the place of all that is kept. */
  public synchronized void load(DataInputStream in) throws IOException {
    clear();
    log = in.readLong();
    last = in.readLong();
    for (int i = in.readInt(); i > 0; i--) {
      long number = in.readLong();
      long id = in.readLong();
      int length = in.readInt();
      if (length < 0 || length > LIMIT_BYTES) {
        throw new IOException("a change of " + length + " octets");
      }
      kept.addLast(new Kept(number, id, new String(in.readNBytes(length), StandardCharsets.UTF_8)));
    }
    notifyAll();
  }

  /** Forgets all: the log is played again. */
  public synchronized void clear() {
    kept.clear();
    log = 0;
    last = 0;
  }
}
