package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §3.2, §4.3.4: updating stored header fields. */
class FresheningTest {

  private static final long T = 1_800_000_000;
  private static final RequestHead GET = RequestHead.of("GET", "http://example.org/");
  private static final ResponseHead STORED =
      ResponseHead.of(
          200,
          "Date",
          HttpDate.format(T - 500),
          "Cache-Control",
          "max-age=60",
          "ETag",
          "\"a\"",
          "X-Kept",
          "old",
          "X-Twice",
          "1",
          "X-Twice",
          "2");

  @Test
  void fieldsOfTheUpdateReplaceStoredOnesAndOthersStay() {
    var fresh = freshen("X-Twice", "3", "x-new", "4", "Cache-Control", "max-age=90");
    assertThat(fresh.head().fields().all("X-Kept")).containsExactly("old");
    assertThat(fresh.head().fields().all("X-Twice")).containsExactly("3");
    assertThat(fresh.head().fields().all("x-new")).containsExactly("4");
    assertThat(fresh.facts().freshness().lifetimeSeconds()).isEqualTo(90);
    assertThat(fresh.head().status()).isEqualTo(200);
    assertThat(fresh.storability()).isEqualTo(Storability.STORABLE);
  }

  @Test
  void severalLinesOfTheUpdateReplaceTogether() {
    assertThat(freshen("X-Kept", "a", "X-Kept", "b").head().fields().all("X-Kept"))
        .containsExactly("a", "b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Type",
        "Content-Encoding",
        "Content-Location",
        "Content-MD5",
        "Content-Foo",
        "Content-Security-Policy",
        "Expires"
      })
  void namesThatBeginWithContentAreNothingSpecial(String name) {
    assertThat(freshen(name, "new").head().fields().all(name)).containsExactly("new");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length",
        "Content-Range",
        "Connection",
        "Transfer-Encoding",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Upgrade"
      })
  void whatIsNotStoredIsNotUpdated(String name) {
    assertThat(freshen(name, "10").head().fields().all(name)).isEmpty();
  }

  @Test
  void fieldsThatConnectionNamesAreNotUpdated() {
    assertThat(freshen("Connection", "X-Kept", "X-Kept", "new").head().fields().all("X-Kept"))
        .containsExactly("old");
  }

  @Test
  void fieldsThatTheUpdateKeepsFromTheStoreLeaveIt() {
    assertThat(
            freshen("Cache-Control", "max-age=9, private=\"x-kept\"", "X-Kept", "mine")
                .head()
                .fields()
                .all("X-Kept"))
        .isEmpty();
  }

  @Test
  void ageBeginsAnewWithTheValidation() {
    var fresh = freshen("Date", HttpDate.format(T));
    assertThat(fresh.facts().ageSeconds(T)).isZero();
    assertThat(fresh.facts().isFresh(T + 59)).isTrue();
    assertThat(fresh.head().field(FieldName.DATE)).isEqualTo(HttpDate.format(T));
  }

  @Test
  void anUpdateWithoutDateIsAsOldAsItsReception() {
    var fresh = freshen();
    assertThat(fresh.facts().ageSeconds(T)).isZero();
    assertThat(fresh.head().field(FieldName.DATE)).isEqualTo(HttpDate.format(T));
  }

  @Test
  void theAgeOfTheUpdateCounts() {
    var fresh = freshen("Age", "40");
    assertThat(fresh.facts().ageSeconds(T)).isEqualTo(40);
    assertThat(fresh.head().has(FieldName.AGE)).isFalse();
  }

  @Test
  void anUpdateThatNamesSelectingFieldsSelectsByThemFromNowOn() {
    var request = RequestHead.of("GET", "http://example.org/", "Foo", "1");
    var update = ResponseHead.of(304, "Vary", "Foo");
    var selecting =
        Freshening.of(request, STORED, update, CachePolicy.DEFAULT, VaryBy.NONE, T, T).selecting();
    assertThat(selecting.matches(request)).isTrue();
    assertThat(selecting.matches(GET)).isFalse();
    assertThat(freshen().selecting()).isSameAs(SelectingFields.NONE);
  }

  @Test
  void theStoredResponseIsNotChanged() {
    String before = STORED.toString();
    freshen("X-Kept", "new");
    assertThat(STORED).hasToString(before);
  }

  @Test
  void anUpdateThatForbidsStoringEndsIt() {
    assertThat(freshen("Cache-Control", "no-store").storability()).isEqualTo(Storability.NO_STORE);
    assertThat(freshen("Cache-Control", "private").storability()).isEqualTo(Storability.PRIVATE);
    assertThat(freshen("Vary", "*").storability()).isEqualTo(Storability.VARY_ALL);
  }

  @Test
  void anUpdateForAnAuthorizedRequestMustAllowThat() {
    var request = RequestHead.of("GET", "http://example.org/", "Authorization", "Basic eDp5");
    var update = ResponseHead.of(304);
    assertThat(
            Freshening.of(request, STORED, update, CachePolicy.DEFAULT, VaryBy.NONE, T, T)
                .storability())
        .isEqualTo(Storability.AUTHORIZATION);
  }

  private static Freshening freshen(String... namesAndValues) {
    var update = ResponseHead.of(304, namesAndValues);
    return Freshening.of(GET, STORED, update, CachePolicy.DEFAULT, VaryBy.NONE, T, T);
  }
}
