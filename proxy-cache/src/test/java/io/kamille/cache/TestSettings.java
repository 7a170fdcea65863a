package io.kamille.cache;

import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.core.setting.Sections;

/** Settings of routes where all requests are treated alike. */
final class TestSettings {

  private TestSettings() {}

  /** What a route has that says nothing, but for the largest response stored. */
  static CacheSettings of(long maxObjectBytes) {
    return of(CachePolicy.DEFAULT, CompressionRules.OFF, maxObjectBytes);
  }

  static CacheSettings of(CachePolicy policy, CompressionRules coding, long maxObjectBytes) {
    return Sections.copy(
            CacheSettings.of(
                RouteCacheSettings.SECTION.defaults(), SharedCacheSettings.SECTION.defaults()))
        .with("policy", policy)
        .with("coding", coding)
        .with("maxObjectBytes", maxObjectBytes)
        .record();
  }
}
