package io.kamille.core.origin.send;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.atomic.AtomicLong;

/** The memory that all {@link UploadBuffer}s share. Any thread. */
public final class UploadMemory implements AutoCloseable {

  public static final MetricDescriptor HELD =
      MetricDescriptor.gauge(
          "kamille_upload_buffer_bytes",
          Unit.BYTES,
          "Memory taken by content of requests that have no connection to an origin yet.");

  public static final MetricDescriptor FULL =
      MetricDescriptor.counter(
          "kamille_upload_buffer_full_total",
          Unit.COUNT,
          "Requests that took a connection before their content was there, because the memory for"
              + " it was used up.");

  private final long mostBytes;
  private final MetricGroup metrics;
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicLong full = new AtomicLong();

  /** Room for so many octets. */
  public UploadMemory(long mostBytes, MetricRegistry registry) {
    this.mostBytes = mostBytes;
    this.metrics = new MetricGroup(registry);
    metrics.gauge(HELD, heldBytes::get);
    metrics.counting(FULL, full::get);
  }

  /**
   * Counts memory that is taken, be there room for it or not.
   *
   * @return whether there was room; if not, take no more
   */
  boolean take(int bytes) {
    return heldBytes.addAndGet(bytes) <= mostBytes;
  }

  void giveBack(int bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** A request goes on without the rest of its content. */
  void wasFull() {
    full.incrementAndGet();
  }

  long heldBytes() {
    return heldBytes.get();
  }

  @Override
  public void close() {
    metrics.close();
  }
}
