package io.kamille.core.trace;

import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Somebody wants to see the next few requests of a kind. Any thread. */
public final class TraceOrder {

  /*
   * Looked at for each request while it is open: octets are compared where they lie, and nothing
   * is made of them.
   */
  private final String host;
  private final byte[] path;
  private final long deadlineNanos;
  private final int count;
  private final AtomicInteger left;

  /**
   * The next requests for these targets.
   *
   * @param host as in {@code Host}, with the port if there is one; null for any
   * @param path the beginning of the path with its query
   * @param count how many of them
   * @param deadlineNanos until when (monotonic)
   */
  public TraceOrder(@Nullable String host, String path, int count, long deadlineNanos) {
    this.host = host == null ? "" : host.toLowerCase(Locale.ROOT);
    this.path = path.getBytes(StandardCharsets.ISO_8859_1);
    this.count = count;
    this.deadlineNanos = deadlineNanos;
    this.left = new AtomicInteger(count);
  }

  /** Empty for any. */
  public String host() {
    return host;
  }

  public String path() {
    return new String(path, StandardCharsets.ISO_8859_1);
  }

  /** How many were wanted. */
  public int count() {
    return count;
  }

  /** How many are still to come. */
  public int left() {
    return Math.max(0, left.get());
  }

  /** How long it stays open, in nanoseconds; 0 if it is over. */
  public long leftNanos(long nowNanos) {
    return left() == 0 ? 0 : Math.max(0, deadlineNanos - nowNanos);
  }

  /** Whether it is about this request and has a place for it, which is taken then. */
  boolean takes(RequestHead request, long nowNanos) {
    return matches(request) && leftNanos(nowNanos) > 0 && left.getAndDecrement() > 0;
  }

  private boolean matches(RequestHead request) {
    byte[] octets = request.octets();
    int end = request.pathStart() + path.length;
    return end <= request.queryEnd()
        && Arrays.equals(octets, request.pathStart(), end, path, 0, path.length)
        && (host.isEmpty()
            || Octets.equalsIgnoreCase(
                octets, request.authorityStart(), request.authorityEnd(), host));
  }
}
