package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.netty.util.NetUtil;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last few requests of one loop for whoever looks. Written on its loop; read on any
 * thread.
 */
public final class RequestSampler implements ExchangeObserver {

  /*
   * So many requests a second become a sample, and as many more of those that failed: a flood of
   * one kind does not hide the other. Those that are traced are samples, too; they have a limit
   * already. All others cost a comparison. A place of the ring is written once and then replaced,
   * so a reader sees whole samples without a lock.
   */
  static final int KEPT = 512;

  private static final int TEXT_LIMIT = 512;
  private static final int SERVER_ERROR = 500;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final int loop;
  private final int perSecond;
  private final WallClock clock;
  private final AtomicReferenceArray<@Nullable RequestSample> ring =
      new AtomicReferenceArray<>(KEPT);
  private long windowNanos;
  private boolean hasWindow;
  private int left;
  private int failuresLeft;
  private long count;

  /**
   * Of one loop.
   *
   * @param perSecond how many requests become a sample, at the most
   */
  public RequestSampler(int loop, int perSecond, WallClock clock) {
    this.loop = loop;
    this.perSecond = perSecond;
    this.clock = clock;
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    if (!hasWindow || endNanos - windowNanos >= SECOND) {
      hasWindow = true;
      windowNanos = endNanos;
      left = perSecond;
      failuresLeft = perSecond;
    }
    boolean isFailed = status >= SERVER_ERROR || exchange.notes().failure() != null;
    boolean isTraced = exchange.notes().trace() != null;
    if (isTraced || (isFailed ? failuresLeft-- > 0 : left-- > 0)) {
      int place = (int) (count++ % KEPT);
      long nanos = endNanos - startNanos;
      ring.setRelease(
          place, sample(exchange, status, contentBytes, nanos, loop, count, clock.epochMillis()));
    } else if (isFailed) {
      failuresLeft = 0;
    } else {
      left = 0;
    }
  }

  /**
   * An exchange that has just ended as a sample.
   *
   * @param loop its number
   * @param number counts the samples of that loop from 1
   */
  public static RequestSample sample(
      Exchange exchange,
      int status,
      long contentBytes,
      long nanos,
      int loop,
      long number,
      long epochMillis) {
    RequestHead request = exchange.request();
    ExchangeNotes notes = exchange.notes();
    Failure failure = notes.failure();
    String target = request.pathAndQuery();
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    return new RequestSample(
        loop,
        number,
        epochMillis - Duration.ofNanos(nanos).toMillis(),
        nanos,
        cut(request.methodText()),
        cut((request.isSecure() ? "https://" : "http://") + request.authority() + path),
        query < 0 ? "" : cut(target.substring(query + 1)),
        status,
        contentBytes,
        notes.cache().token(),
        failure == null ? "" : failure.kind().token(),
        notes.route(),
        notes.origin(),
        NetUtil.toAddressString(exchange.client().getAddress()),
        notes.trace() == null ? "" : notes.trace().ids().trace());
  }

  private static String cut(String text) {
    return text.length() <= TEXT_LIMIT ? text : text.substring(0, TEXT_LIMIT) + "…";
  }

  /** What is kept, in no order. Any thread. */
  public List<RequestSample> samples() {
    List<RequestSample> samples = new ArrayList<>();
    for (int i = 0; i < KEPT; i++) {
      RequestSample sample = ring.getAcquire(i);
      if (sample != null) {
        samples.add(sample);
      }
    }
    return samples;
  }
}
