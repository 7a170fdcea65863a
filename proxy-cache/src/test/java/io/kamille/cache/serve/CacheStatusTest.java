package io.kamille.cache.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RFC 9211 §2: what caches behind us say stays, and nobody speaks for us. */
class CacheStatusTest {

  private final CacheStatus ours = new CacheStatus(CacheStatus.NAME);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "kamille; hit |",
        "\"kamille\";hit, kamille |",
        "a; hit, kamille; hit, b | a; hit, b",
        "a; detail=\"x, kamille; hit\" , kamille | a; detail=\"x, kamille; hit\"",
        "a; detail=\"\\\", kamille\", kamille | a; detail=\"\\\", kamille\"",
        "kamille2; hit, a; detail=kamille | kamille2; hit, a; detail=kamille",
        "a;hit,b | a;hit,b"
      })
  void membersThatBearOurNameAreDropped(String came, String left) {
    Fields fields = Fields.of("Cache-Status", came);
    ours.received(fields);
    assertThat(fields.joined(FieldName.CACHE_STATUS)).isEqualTo(left);
  }

  @Test
  void linesAreLookedAtAsOneList() {
    Fields fields = Fields.of("Cache-Status", "a; hit", "Cache-Status", "kamille; hit");
    ours.received(fields);
    assertThat(fields.all(FieldName.CACHE_STATUS)).containsExactly("a; hit");
  }

  @Test
  void eachRequestIsToldOfItsOwnReasonAndDetail() {
    for (int i = 0; i < 2; i++) {
      assertThat(told(new Forwarding(ForwardReason.URI_MISS).detail("no-store")))
          .isEqualTo("kamille; fwd=uri-miss; detail=no-store");
      assertThat(told(new Forwarding(ForwardReason.URI_MISS))).isEqualTo("kamille; fwd=uri-miss");
      assertThat(told(new Forwarding(ForwardReason.URI_MISS).detail("private").status(404)))
          .isEqualTo("kamille; fwd=uri-miss; fwd-status=404; detail=private");
      assertThat(told(new Forwarding(ForwardReason.STALE).detail("private")))
          .isEqualTo("kamille; fwd=stale; detail=private");
      assertThat(told(new Forwarding(ForwardReason.URI_MISS).stored(9)))
          .isEqualTo("kamille; fwd=uri-miss; stored; ttl=9");
    }
  }

  private @Nullable String told(Forwarding forwarding) {
    Fields fields = new Fields();
    ours.forwarded(fields, forwarding);
    assertThat(ours.member(forwarding)).isEqualTo(fields.first(FieldName.CACHE_STATUS));
    return fields.first(FieldName.CACHE_STATUS);
  }
}
