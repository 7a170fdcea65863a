package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.cache.key.SearchVariance;
import io.kamille.core.http.RequestHead;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What origins have last said about the queries of their paths ({@code No-Vary-Search}), and the
 * keys that follow from it. Any thread; reading never waits.
 */
public final class SearchVariances {

  /*
   * draft-ietf-httpbis-no-vary-search, Caching: a stored response may be used for a URI that is
   * equivalent to its own by what it says itself; of several responses of one path, a cache may heed
   * the most recent one alone. So a path has one rule, and each rule a number, which goes into the
   * keys. Under a key with a number lie only responses that say what the rule says; for them, to
   * have one key is to be equivalent. When the origin says something else, there is a new number,
   * and what lies under the old one is never met again, even if the first word comes back: no purge
   * has to know it. Nor is anything stored under the key of a URI whose path has a rule: a purge of an
   * equivalent would miss it, and it would be met when the rule is gone. Numbers begin anywhere,
   * because keys may outlive the process, and rules do not.
   *
   * A path belongs to its origin: an origin can spoil the keys of no other. How many paths are known
   * is limited by their weight. One that finds no place, or has lost it, has the keys of its URIs.
   */
  private static final long WEIGHT_LIMIT_OCTETS = 4 << 20;
  private static final int PATH_OCTETS = 256;
  private static final int NAME_OCTETS = 64;

  private record Rule(long number, SearchVariance variance) {

    CacheKey keyOf(RequestHead request, CacheKeyProbe probe) {
      return probe.keyOf(request, number, variance.simplified(request));
    }
  }

  private final AtomicLong numbers = new AtomicLong(new SecureRandom().nextLong());
  private final Cache<CacheKey, Rule> rules;

  public SearchVariances() {
    this(WEIGHT_LIMIT_OCTETS);
  }

  SearchVariances(long weightLimitOctets) {
    this.rules =
        Caffeine.newBuilder()
            .maximumWeight(weightLimitOctets)
            .<CacheKey, Rule>weigher((path, rule) -> octets(rule.variance))
            .executor(Runnable::run)
            .build();
  }

  /** What a rule takes on the heap, and a name beside its characters; rather too much. */
  private static int octets(SearchVariance variance) {
    return PATH_OCTETS + NAME_OCTETS * variance.names().size() + 2 * variance.weightOctets();
  }

  /** What the origin has last said about the request's path; null if nothing. */
  public @Nullable SearchVariance find(RequestHead request) {
    Rule rule = rules.getIfPresent(new CacheKeyProbe().pathOf(request));
    return rule == null ? null : rule.variance;
  }

  /** The key that a request is looked up by now, until the next use of the probe. */
  public CacheKey keyOf(RequestHead request, CacheKeyProbe probe) {
    Rule rule = rules.getIfPresent(probe.pathOf(request));
    return rule == null ? probe.keyOf(request) : rule.keyOf(request, probe);
  }

  /** Notes what the origin has just said about the request's path. */
  public void learn(RequestHead request, SearchVariance said) {
    CacheKey path = new CacheKeyProbe().pathOf(request).copy();
    Rule known = rules.getIfPresent(path);
    if (said.isDefault()) {
      rules.invalidate(path);
    } else if (known == null || !known.variance.equals(said)) {
      rules.put(path, new Rule(numbers.incrementAndGet(), said));
    }
  }

  /**
   * Whether a response that says this may be stored under that key: the one that the request is
   * looked up by now, if that is by the same word.
   */
  public boolean fits(CacheKey key, RequestHead request, SearchVariance said) {
    CacheKeyProbe probe = new CacheKeyProbe();
    Rule rule = rules.getIfPresent(probe.pathOf(request));
    return rule == null
        ? key.equals(probe.keyOf(request))
        : rule.variance.equals(said) && key.equals(rule.keyOf(request, probe));
  }

  /** Forgets everything. */
  public void clear() {
    rules.invalidateAll();
  }
}
