package io.kamille.cache;

import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.settings.BackgroundSettings;
import io.kamille.cache.settings.CacheSettings;

/** Settings of routes where all requests are treated alike. */
final class TestSettings {

  private TestSettings() {}

  /** What a route has that says nothing, but for the largest response stored. */
  static CacheSettings of(long maxObjectBytes) {
    return of(
        CachePolicy.DEFAULT, CompressionRules.OFF, maxObjectBytes, true, BackgroundSettings.NONE);
  }

  static CacheSettings of(
      CachePolicy policy,
      CompressionRules coding,
      long maxObjectBytes,
      boolean mayCollapse,
      BackgroundSettings background) {
    return new CacheSettings(
        policy,
        coding,
        maxObjectBytes,
        mayCollapse,
        background,
        NamePatterns.NONE,
        VaryBy.NONE,
        QueryRules.NONE,
        TagFields.USUAL);
  }
}
