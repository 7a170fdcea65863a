package io.kamille.cache.coding;

import io.kamille.cache.coding.CodingMetrics.Outcome;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.CodedForms.Form;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.metric.MetricRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Compresses stored responses beside the loops and gives them the coded forms. Any thread may ask
 * for it; the work is the executor's.
 */
public final class Coder {

  /*
   * A response that waits holds no lease: one that leaves the store before its turn is passed over.
   * While it is coded, one lease holds it, and each form is written straight into the arena, head
   * first, like a fill. The forms come into the store all at once, in place of the response
   * without, and only if it is still there: so a purge, an eviction or a newer response wins,
   * whenever it comes, and takes the forms along.
   *
   * A form that saves less than a tenth is not worth a place of its own: given up as soon as it has
   * grown that far.
   */
  private static final int WINDOW_BYTES = 16 << 10;
  private static final int USEFUL_TENTHS = 9;

  /** An encoder takes up to a megabyte. */
  private static final int MOST_ON_THE_WAY = 256;

  /** Usual text shrinks to a quarter, so that most forms find all their memory in one piece. */
  private static final int EXPECTED_RATIO = 4;

  private static final System.Logger LOG = System.getLogger("kamille.cache");

  private final Store store;
  private final Executor workers;
  private final CodingMetrics metrics;
  private final AtomicInteger onTheWay = new AtomicInteger();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  /**
   * Codes on these workers.
   *
   * @param workers may refuse with {@link RejectedExecutionException}, or have no memory for a
   *     thread; then the response stays uncoded
   */
  public Coder(Store store, Executor workers, MetricRegistry registry) {
    this.store = store;
    this.workers = workers;
    this.metrics = new CodingMetrics(registry);
  }

  /** Loads what the rules need. Reads files. */
  public static void prepare(CompressionRules rules) {
    rules.codings().forEach(Encoders::of);
  }

  /**
   * An encoder for content on its way, which ends with {@link #end}; null if there is none, or too
   * many are in use.
   */
  @Nullable OutputStream begin(ContentCoding coding, OutputStream out) {
    OutputStream encoder = null;
    try {
      if (onTheWay.incrementAndGet() > MOST_ON_THE_WAY) {
        metrics.refused();
      } else {
        encoder = Encoders.quick(coding, out);
      }
    } finally {
      if (encoder == null) {
        end();
      }
    }
    return encoder;
  }

  /** An encoder for content on its way was closed. */
  void end() {
    onTheWay.decrementAndGet();
  }

  /**
   * Sees to the coded forms of a response that has been stored.
   *
   * @param key kept
   * @param stored kept, without a lease
   */
  public void submit(CacheKey key, StoredResponse stored, CompressionRules rules) {
    if (stored.forms() != CodedForms.NOT_YET || !rules.isLength(stored.contentLength())) {
      return;
    }
    try {
      workers.execute(() -> run(key, stored, rules));
    } catch (RejectedExecutionException | OutOfMemoryError full) {
      metrics.refused();
    }
  }

  /**
   * Sees to the coded forms of a response that has got a new head and is stored with it. The caller
   * holds a lease on it.
   *
   * @param before the forms it had
   * @param home the number of the caller's loop
   * @return the response with the forms it has by now; the caller's lease is on either
   */
  public StoredResponse carry(
      CacheKey key, CarriedForms before, StoredResponse after, CompressionRules rules, int home) {
    if (before.isCoded()) {
      return store.attach(key, after, before.under(after, store, home));
    }
    submit(key, after, rules);
    return after;
  }

  private void run(CacheKey key, StoredResponse stored, CompressionRules rules) {
    if (!stored.tryRetain()) {
      return;
    }
    long before = threads.getCurrentThreadCpuTime();
    List<Form> forms = new ArrayList<>();
    try {
      for (ContentCoding coding : rules.codings()) {
        code(stored, coding, forms);
      }
    } finally {
      boolean isKept = store.attach(key, stored, CodedForms.of(forms)) != stored;
      forms.forEach(form -> ended(stored, form, isKept));
      stored.release();
      metrics.worked(threads.getCurrentThreadCpuTime() - before);
    }
  }

  private void ended(StoredResponse stored, Form form, boolean isKept) {
    if (isKept) {
      metrics.kept(form.coding(), stored.contentLength(), form.response().contentLength());
    } else {
      metrics.ended(form.coding(), Outcome.REPLACED);
    }
  }

  /** Adds the form in that coding, if it can be had and is worth it. */
  private void code(StoredResponse stored, ContentCoding coding, List<Form> forms) {
    Encoders.Encoder encoder = Encoders.of(coding);
    if (encoder == null) {
      return;
    }
    try {
      StoredResponse coded = coded(stored, coding, encoder);
      if (coded != null) {
        forms.add(new Form(coding, coded));
      }
    } catch (IOException | RuntimeException trouble) {
      metrics.ended(coding, Outcome.FAILED);
      LOG.log(Level.WARNING, "a response was not compressed by " + coding.token(), trouble);
    }
  }

  /** The coded form, with a lease that the caller owns; or null. */
  private @Nullable StoredResponse coded(
      StoredResponse stored, ContentCoding coding, Encoders.Encoder encoder) throws IOException {
    ByteBuf octets = Unpooled.buffer(1024);
    EncodedHead encoded = CarriedForms.head(stored, coding, octets);
    long expected = encoded.length() + stored.contentLength() / EXPECTED_RATIO;
    Reservation reservation = store.reserve(null, expected, 0);
    if (reservation == null) {
      metrics.ended(coding, Outcome.NO_MEMORY);
      return null;
    }
    boolean isKept = false;
    try {
      reservation.append(octets);
      isKept = write(stored, coding, encoder, reservation, encoded.length());
    } finally {
      if (!isKept) {
        reservation.abandon();
      }
    }
    return isKept
        ? StoredResponse.of(
            encoded, reservation.finish(), stored.facts().weakened(), stored.selecting())
        : null;
  }

  /** Writes all the content behind the head; false if that is useless or there is no memory. */
  private boolean write(
      StoredResponse stored,
      ContentCoding coding,
      Encoders.Encoder encoder,
      Reservation reservation,
      int headLength)
      throws IOException {
    long limit = headLength + stored.contentLength() * USEFUL_TENTHS / 10;
    CodedOctets out = new CodedOctets(reservation, limit);
    try (OutputStream coded = encoder.over(out)) {
      byte[] window = new byte[WINDOW_BYTES];
      for (long at = 0; at < stored.contentLength() && !out.isOver(); at += window.length) {
        int count = (int) Math.min(window.length, stored.contentLength() - at);
        stored.content().copyTo(stored.contentOffset() + at, window, 0, count);
        coded.write(window, 0, count);
      }
    }
    if (out.isTooLong()) {
      metrics.ended(coding, Outcome.USELESS);
    } else if (out.isWithoutMemory()) {
      metrics.ended(coding, Outcome.NO_MEMORY);
    }
    return !out.isOver();
  }

  /**
   * Writes what an encoder gives into the store, as long as it is worth it and there is memory.
   * Confined to one thread. The reservation stays its owner's.
   */
  private static final class CodedOctets extends OutputStream {

    private final Reservation reservation;
    private final long limitBytes;
    private boolean isTooLong;
    private boolean isWithoutMemory;

    /**
     * @param limitBytes how long the reservation may become
     */
    CodedOctets(Reservation reservation, long limitBytes) {
      this.reservation = reservation;
      this.limitBytes = limitBytes;
    }

    /** Whether the coding does not save enough. */
    boolean isTooLong() {
      return isTooLong;
    }

    boolean isWithoutMemory() {
      return isWithoutMemory;
    }

    /** Whether more octets make no difference; they do not when the worker is to end, either. */
    boolean isOver() {
      return isTooLong || isWithoutMemory || Thread.currentThread().isInterrupted();
    }

    @Override
    public void write(byte[] octets, int offset, int length) {
      if (isOver() || length == 0) {
        return;
      }
      if (reservation.length() + length > limitBytes) {
        isTooLong = true;
      } else {
        isWithoutMemory = !reservation.append(Unpooled.wrappedBuffer(octets, offset, length));
      }
    }

    @Override
    public void write(int octet) {
      write(new byte[] {(byte) octet}, 0, 1);
    }
  }
}
