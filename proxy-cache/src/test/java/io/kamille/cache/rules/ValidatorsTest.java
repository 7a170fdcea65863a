package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;

/** RFC 9111 §4.3.1, §4.3.4, §4.3.5: validation toward the origin. */
class ValidatorsTest {

  private static final long T = 1_800_000_000;
  private static final String MODIFIED = HttpDate.format(T - 3000);
  private static final String OTHER = HttpDate.format(T - 2000);

  @Test
  void bothValidatorsAreSent() {
    var request = new Fields();
    Validators.makeConditional(request, stored("ETag", "W/\"a\"", "Last-Modified", MODIFIED));
    assertThat(request.all(FieldName.IF_NONE_MATCH)).containsExactly("W/\"a\"");
    assertThat(request.all(FieldName.IF_MODIFIED_SINCE)).containsExactly(MODIFIED);
  }

  @Test
  void whatTheClientAskedIsReplaced() {
    var request =
        Fields.of(
            "If-None-Match",
            "\"x\"",
            "If-Modified-Since",
            OTHER,
            "Range",
            "bytes=0-1",
            "If-Range",
            "\"x\"",
            "Foo",
            "bar");
    Validators.makeConditional(request, stored("ETag", "\"a\""));
    assertThat(request.toString()).isEqualTo("Foo: bar\nIf-None-Match: \"a\"\n");
  }

  @Test
  void aRequestToFillTheStoreAsksForEverything() {
    var request = Fields.of("If-None-Match", "*", "Range", "bytes=0-1", "Foo", "bar");
    Validators.makeUnconditional(request);
    assertThat(request.toString()).isEqualTo("Foo: bar\n");
  }

  @Test
  void aStrongTagMustBeTheSame() {
    assertThat(selects(stored("ETag", "\"a\""), "ETag", "\"a\"")).isTrue();
    assertThat(selects(stored("ETag", "\"a\""), "ETag", "\"b\"")).isFalse();
    assertThat(selects(stored("ETag", "W/\"a\""), "ETag", "\"a\"")).isFalse();
    assertThat(
            selects(stored("Last-Modified", MODIFIED), "ETag", "\"a\"", "Last-Modified", MODIFIED))
        .isFalse();
  }

  @Test
  void weakValidatorsMustCorrespond() {
    assertThat(selects(stored("ETag", "\"a\""), "ETag", "W/\"a\"")).isTrue();
    assertThat(selects(stored("ETag", "W/\"a\""), "ETag", "W/\"b\"")).isFalse();
    assertThat(selects(stored("Last-Modified", MODIFIED), "Last-Modified", MODIFIED)).isTrue();
    assertThat(selects(stored("Last-Modified", MODIFIED), "Last-Modified", OTHER)).isFalse();
    assertThat(selects(stored("ETag", "\"a\""), "Last-Modified", MODIFIED)).isFalse();
    assertThat(
            selects(
                stored("ETag", "W/\"a\"", "Last-Modified", MODIFIED),
                "ETag",
                "W/\"a\"",
                "Last-Modified",
                OTHER))
        .isFalse();
  }

  @Test
  void aNotModifiedWithoutValidatorsIsAboutWhatWasAsked() {
    assertThat(selects(stored("ETag", "\"a\""))).isTrue();
    assertThat(selects(stored("ETag", "\"a\""), "ETag", "malformed")).isTrue();
    assertThat(selects(stored("Last-Modified", MODIFIED))).isTrue();
  }

  @Test
  void aHeadResponseConfirmsWhatItAgreesWith() {
    var stored = stored("ETag", "\"a\"", "Last-Modified", MODIFIED);
    assertThat(confirms(stored, 200, 10, "ETag", "\"a\"", "Last-Modified", MODIFIED)).isTrue();
    assertThat(confirms(stored, 200, -1, "ETag", "\"a\"")).isTrue();
    assertThat(confirms(stored, 200, 10, "ETag", "\"b\"")).isFalse();
    assertThat(confirms(stored, 200, 10, "ETag", "\"a\"", "Last-Modified", OTHER)).isFalse();
    assertThat(confirms(stored, 200, 11, "ETag", "\"a\"")).isFalse();
    assertThat(confirms(stored, 404, 10, "ETag", "\"a\"")).isFalse();
    assertThat(confirms(stored, 200, 10)).as("no validator").isFalse();
  }

  @Test
  void aHeadResponseContradictsWhatItDiffersFrom() {
    var stored = stored("ETag", "\"a\"", "Last-Modified", MODIFIED);
    assertThat(contradicts(stored, 200, -1)).as("nothing to compare").isFalse();
    assertThat(contradicts(stored, 200, 10, "ETag", "\"a\"")).isFalse();
    assertThat(contradicts(stored, 200, 11, "ETag", "\"a\"")).isTrue();
    assertThat(contradicts(stored, 200, 10, "ETag", "\"b\"")).isTrue();
    assertThat(contradicts(stored, 200, 10, "Last-Modified", OTHER)).isTrue();
    assertThat(contradicts(stored, 404, 10)).isTrue();
  }

  private static boolean selects(StoredFacts stored, String... namesAndValues) {
    return Validators.selects(ResponseHead.of(304, namesAndValues), stored);
  }

  private static boolean confirms(
      StoredFacts stored, int status, long length, String... namesAndValues) {
    return Validators.confirms(ResponseHead.of(status, namesAndValues), length, stored, 10);
  }

  private static boolean contradicts(
      StoredFacts stored, int status, long length, String... namesAndValues) {
    return Validators.contradicts(ResponseHead.of(status, namesAndValues), length, stored, 10);
  }

  private static StoredFacts stored(String... namesAndValues) {
    return StoredFacts.of(ResponseHead.of(200, namesAndValues), CachePolicy.DEFAULT, T, T);
  }
}
