package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * What the heads of the requests under way of one loop take of the heap. Confined to its loop, but
 * for the counts.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // counts are written by this loop only
public final class HeadsUnderWay {

  /*
   * A head is kept until its exchange is over, which may take as long as its client likes to take
   * the answer. Only large ones are counted: what a usual one takes is little beside what its
   * connection and its exchange take anyway, and `limits.connections` bounds it; it costs one
   * comparison. A hit that is over within its turn is counted nowhere.
   *
   * Who is under way is never ended for somebody else: the new one is refused. That is no fault of
   * the request, which may come again a little later; its connection ends, so that it waits nowhere
   * in between. They have as much room as unfinished heads have, but room of their own: a head in
   * two segments shall not be refused because others read slowly.
   */
  public static final int LARGE_BYTES = 4 << 10;

  private static final int RETRY_AFTER_SECONDS = 1;

  private static final Failure USED_UP =
      new Failure(
          ErrorType.PROXY_INTERNAL_RESPONSE,
          503,
          "the room for large request heads is used up",
          RETRY_AFTER_SECONDS);

  private final long roomBytes;
  private volatile long heapBytes;
  private volatile long refused;

  HeadsUnderWay(long roomBytes) {
    this.roomBytes = roomBytes;
  }

  /** Octets of heap that all of them may take. */
  public long roomBytes() {
    return roomBytes;
  }

  /** A head that is larger than all of them may be together. */
  static Failure tooLarge() {
    return Failure.request(
        StatusCode.FIELDS_TOO_LARGE, "a head larger than the room for request heads");
  }

  /** Why a request whose head takes so much may not begin; null if it may. */
  public @Nullable Failure refusal(int headBytes) {
    return headBytes <= LARGE_BYTES ? null : refusalOfLarge(headBytes);
  }

  private @Nullable Failure refusalOfLarge(int headBytes) {
    if (headBytes > roomBytes) {
      return tooLarge();
    }
    if (heapBytes + headBytes <= roomBytes) {
      return null;
    }
    refused++;
    return USED_UP;
  }

  /**
   * A request whose head takes so much is under way.
   *
   * @return what to call {@link #over} with
   */
  public int begun(int headBytes) {
    if (headBytes <= LARGE_BYTES) {
      return 0;
    }
    heapBytes += headBytes;
    return headBytes;
  }

  /** A request is over for which {@link #begun} answered this. */
  public void over(int countedBytes) {
    if (countedBytes != 0) {
      heapBytes -= countedBytes;
    }
  }

  /** Octets of heap that they take. Any thread. */
  public long heapBytes() {
    return heapBytes;
  }

  /** Requests refused for want of room. Any thread. */
  public long refused() {
    return refused;
  }
}
