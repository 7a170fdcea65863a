package io.kamille.launcher.warm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be warmed up: URLs, those of a sitemap, or what a purge removed. Immutable.
 *
 * @param urls empty if it is something else
 * @param sitemap its URL; null if it is something else
 * @param purge its number; null if it is something else
 * @param rate requests to origins a second, at the most
 * @param concurrency requests at the same time, at the most
 */
record WarmOrder(
    List<String> urls, @Nullable String sitemap, @Nullable Long purge, int rate, int concurrency) {

  WarmOrder {
    urls = List.copyOf(urls);
  }

  /** What it is, in words. */
  String words() {
    if (sitemap != null) {
      return "sitemap " + sitemap;
    }
    return purge != null ? "purge " + purge : urls.size() + (urls.size() == 1 ? " URL" : " URLs");
  }
}
