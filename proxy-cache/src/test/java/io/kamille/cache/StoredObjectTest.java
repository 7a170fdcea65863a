package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.StoredObject.SelectedBy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an operator is told of the responses under a key. */
class StoredObjectTest {

  @Test
  void everyVariantIsListedWithWhatItWasSelectedBy() {
    try (CacheFixture cache = new CacheFixture()) {
      String[] answer = fields("Cache-Control", "max-age=60", "Vary", "Accept-Language");
      cache.fill(fields("Accept-Language", "de"), 200, "hallo", answer);
      cache.fill(200, "hello!", answer);
      var objects = cache.cache.operations().objects(URI).orElseThrow();
      assertThat(objects).hasSize(2);
      assertThat(objects.get(0).selectedBy())
          .containsExactly(new SelectedBy("accept-language", null));
      assertThat(objects.get(1).selectedBy())
          .containsExactly(new SelectedBy("accept-language", "de"));
      assertThat(objects.get(0).bytes().content()).isEqualTo(6);
      assertThat(objects.get(0).bytes().occupied())
          .isGreaterThanOrEqualTo(objects.get(0).bytes().head() + 6);
    }
  }

  @Test
  void ageTtlAndLifetimeAreThoseOfTheMoment() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(200, "x", "Cache-Control", "s-maxage=60", "Age", "5", "ETag", "\"a\"");
      cache.advance(20);
      StoredObject fresh = only(cache);
      assertThat(fresh.state()).isEqualTo(StoredObject.Staleness.FRESH);
      assertThat(fresh.ageSeconds()).isEqualTo(25);
      assertThat(fresh.ttlSeconds()).isEqualTo(35);
      assertThat(fresh.freshness()).isEqualTo(new StoredObject.Lifetime(60, "s-maxage"));
      assertThat(fresh.decision()).isEqualTo("serve");
      cache.advance(40);
      StoredObject stale = only(cache);
      assertThat(stale.state()).isEqualTo(StoredObject.Staleness.STALE);
      assertThat(stale.ttlSeconds()).isEqualTo(-5);
      assertThat(stale.decision()).isEqualTo("validate");
      assertThat(stale.etag()).isEqualTo("\"a\"");
    }
  }

  @Test
  void hitsAreCountedAndSurviveValidation() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x", "ETag", "\"a\"");
      assertThat(only(cache).hits()).isZero();
      cache.get();
      cache.get();
      assertThat(only(cache).hits()).isEqualTo(2);
      cache.advance(70);
      cache.fill(304, "", "ETag", "\"a\"", "Cache-Control", "max-age=60");
      assertThat(only(cache).hits()).isEqualTo(2);
      cache.get();
      assertThat(only(cache).hits()).isEqualTo(3);
    }
  }

  @Test
  void lookingChangesNothing() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x");
      long used = cache.cache.operations().usedBytes();
      for (int i = 0; i < 10; i++) {
        only(cache);
      }
      assertThat(cache.cache.operations().usedBytes()).isEqualTo(used);
      assertThat(only(cache).hits()).isZero();
    }
  }

  @Test
  void longTextIsCut() {
    try (CacheFixture cache = new CacheFixture()) {
      String agent = "a".repeat(5_000);
      cache.fill(
          fields("User-Agent", agent),
          200,
          "x",
          "Cache-Control",
          "max-age=60",
          "Vary",
          "User-Agent");
      assertThat(only(cache).selectedBy().getFirst().value()).hasSize(257).endsWith("a…");
    }
  }

  @Test
  void anUrlThatNoRequestCanHaveHasNoAnswer() {
    try (CacheFixture cache = new CacheFixture()) {
      assertThat(cache.cache.operations().objects("/page")).isEmpty();
      assertThat(cache.cache.operations().objects(URI)).hasValue(List.of());
    }
  }

  private static StoredObject only(CacheFixture cache) {
    var objects = cache.cache.operations().objects(URI).orElseThrow();
    assertThat(objects).hasSize(1);
    return objects.getFirst();
  }
}
