package io.kamille.launcher.warm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.launcher.warm.WarmRun.Item;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fetches given URLs, or what a purge removed: the hottest first, one order at a time. {@link
 * WarmRun} sends the requests. Any thread.
 */
public final class WarmUp implements AutoCloseable {

  static final int MOST_URLS = 10_000;
  private static final int MOST_VARIANTS = 16;

  private final WarmSource source;
  private final long limitSeconds;

  @GuardedBy("this")
  private @Nullable WarmRun last;

  /** Nothing is ordered yet. */
  public WarmUp(WarmSource source) {
    this(source, WarmRun.REQUEST_LIMIT_SECONDS);
  }

  /** With another limit for each response. */
  WarmUp(WarmSource source, long limitSeconds) {
    this.source = source;
    this.limitSeconds = limitSeconds;
  }

  /** What a purge removed, the hottest first; null if there is no such purge. */
  @Nullable List<PurgedUrl> removedBy(long purge) {
    return source.removedBy().apply(purge);
  }

  /** Begins with what a purge removed; false if another warm-up is under way. */
  boolean purged(long purge, List<PurgedUrl> removed, int rate) {
    return start(
        "purge " + purge,
        rate,
        () -> removed.stream().map(url -> new Item(url.uri(), url.selecting())).toList());
  }

  /** Begins with these URLs; false if another warm-up is under way. */
  boolean urls(List<String> urls, int rate) {
    String of = urls.size() + (urls.size() == 1 ? " URL" : " URLs");
    return start(of, rate, () -> hottestFirst(urls));
  }

  private synchronized boolean start(String of, int rate, Supplier<List<Item>> plan) {
    if (last != null && last.isUnderWay()) {
      return false;
    }
    last = new WarmRun(source, of, rate, limitSeconds, plan);
    last.start();
    return true;
  }

  private List<Item> hottestFirst(List<String> urls) {
    Map<String, Long> hottest = source.hottest().get();
    return urls.stream()
        .distinct()
        .sorted(Comparator.comparing((String url) -> hottest.getOrDefault(url, 0L)).reversed())
        .flatMap(this::variants)
        .toList();
  }

  /** One request for each variant that was asked for, or a plain one. */
  private Stream<Item> variants(String url) {
    List<SelectingFields> known = source.variants().apply(url);
    Stream<SelectingFields> variants =
        known.isEmpty() ? Stream.of(SelectingFields.NONE) : known.stream().limit(MOST_VARIANTS);
    return variants.map(selecting -> new Item(url, selecting));
  }

  /**
   * How far the last one has come.
   *
   * @param shown makes of a URL what may be seen of it
   */
  synchronized WarmProgress progress(UnaryOperator<String> shown) {
    return last == null ? WarmProgress.NONE : last.progress(shown);
  }

  /** Sends no more requests. Those under way end by themselves. */
  @Override
  public synchronized void close() {
    if (last != null) {
      last.stop();
    }
  }
}
