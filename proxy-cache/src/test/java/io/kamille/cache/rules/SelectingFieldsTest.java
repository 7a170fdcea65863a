package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §4.1: calculating cache keys with Vary. */
class SelectingFieldsTest {

  @Test
  void withoutVaryEveryRequestMatches() {
    var selecting = SelectingFields.of(Fields.of("Date", "x"), get("Foo", "1"), VaryBy.NONE);
    assertThat(selecting).isSameAs(SelectingFields.NONE);
    assertThat(selecting.isEmpty()).isTrue();
    assertThat(selecting.matches(get("Foo", "2"))).isTrue();
  }

  @Test
  void anEmptyVaryNamesNothing() {
    assertThat(
            SelectingFields.of(Fields.of("Vary", " , "), get(), VaryBy.NONE).matches(get("A", "b")))
        .isTrue();
  }

  @Test
  void moreNamesThanAnybodyNeedsMatchNothing() {
    var names = IntStream.rangeClosed(1, 32).mapToObj(i -> "f" + i).toList();
    assertThat(matches(String.join(",", names), get(), get())).isTrue();
    assertThat(matches(String.join(",", names) + ", F1", get(), get())).isTrue();
    assertThat(matches(String.join(",", names) + ", f33", get(), get())).isFalse();
  }

  @Test
  void whatTheyTakeOnTheHeapGrowsWithNamesAndValues() {
    var few = SelectingFields.of(Fields.of("Vary", "a"), get("A", "b"), VaryBy.NONE);
    var many =
        SelectingFields.of(Fields.of("Vary", "a, c"), get("A", "b".repeat(1000)), VaryBy.NONE);
    assertThat(few.heapBytes()).isPositive();
    assertThat(many.heapBytes()).isGreaterThan(few.heapBytes() + 1000);
    assertThat(SelectingFields.NONE.heapBytes()).isZero();
  }

  @Test
  void theSameValueMatches() {
    assertThat(matches("Foo", get("Foo", "1"), get("foo", "1"))).isTrue();
    assertThat(matches("Foo", get("Foo", "1"), get("Foo", "2"))).isFalse();
    assertThat(matches("Foo", get("Foo", "a"), get("Foo", "A"))).isFalse();
  }

  @Test
  void aFieldThatRequestsNeverDifferInCanBeTakenOut() {
    var two =
        SelectingFields.of(Fields.of("Vary", "Foo, Accept-Encoding"), get("Foo", "1"), VaryBy.NONE);
    var one = two.without(FieldName.ACCEPT_ENCODING);
    assertThat(one.matches(get("Foo", "1", "Accept-Encoding", "br"))).isTrue();
    assertThat(one.matches(get("Foo", "2"))).isFalse();
    var other = SelectingFields.of(Fields.of("Vary", "accept-encoding"), get(), VaryBy.NONE);
    assertThat(other.without(FieldName.ACCEPT_ENCODING)).isSameAs(SelectingFields.NONE);
    var star = SelectingFields.of(Fields.of("Vary", "*"), get(), VaryBy.NONE);
    assertThat(star.without(FieldName.ACCEPT_ENCODING).matches(get())).isFalse();
  }

  @Test
  void otherFieldsDoNotMatter() {
    assertThat(matches("Foo", get("Foo", "1", "Bar", "1"), get("Bar", "2", "Foo", "1"))).isTrue();
  }

  @Test
  void absentMatchesOnlyAbsent() {
    assertThat(matches("Foo", get(), get())).isTrue();
    assertThat(matches("Foo", get("Foo", "1"), get())).isFalse();
    assertThat(matches("Foo", get(), get("Foo", "1"))).isFalse();
    assertThat(matches("Foo", get(), get("Foo", ""))).isFalse();
    assertThat(matches("Accept-Encoding", get("Accept-Encoding", ""), get())).isFalse();
  }

  @Test
  void everyNamedFieldMustMatch() {
    var original = get("Foo", "1", "Bar", "abc");
    assertThat(matches("Foo, Bar, Baz", original, get("Bar", "abc", "Foo", "1"))).isTrue();
    assertThat(matches("Foo, Bar", original, get("Foo", "1", "Bar", "abd"))).isFalse();
    assertThat(matches("Foo, Bar, Baz", original, get("Foo", "1", "Bar", "abc", "Baz", "")))
        .isFalse();
  }

  @Test
  void severalVaryLinesAreOneList() {
    var response = Fields.of("Vary", "Foo", "Vary", "Bar, foo");
    var selecting = SelectingFields.of(response, get("Foo", "1", "Bar", "2"), VaryBy.NONE);
    assertThat(selecting.names()).containsExactly("foo", "bar");
    assertThat(selecting.matches(get("Foo", "1", "Bar", "3"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "*, *", ", *", "*, Foo", "Foo, *", "Foo Bar", "\"Foo\"", "Foo;Bar"})
  void aStarOrWhatIsNoFieldNameNeverMatches(String vary) {
    assertThat(matches(vary, get("Foo", "1"), get("Foo", "1"))).isFalse();
  }

  @Test
  void aStarOnAnotherLineNeverMatches() {
    var response = Fields.of("Vary", "", "Vary", "*");
    assertThat(SelectingFields.of(response, get(), VaryBy.NONE).matches(get())).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Forwarded-For", "forwarded"})
  void fieldsTheGatewayWritesItselfNeverMatch(String vary) {
    assertThat(matches(vary, get(), get())).isFalse();
  }

  @Test
  void linesOfOneFieldAreCombined() {
    assertThat(matches("Foo", get("Foo", "1, 2"), get("Foo", "1", "Foo", "2"))).isTrue();
    assertThat(matches("Foo", get("Foo", "1, 2"), get("Foo", "2", "Foo", "1"))).isFalse();
    assertThat(matches("Foo", get("Foo", "1"), get("Foo", "1", "Foo", "2"))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gzip, br               | gzip,br",
        "gzip, br               | br , gzip",
        "gzip, br               | GZIP;q=1.0, br ; q=1",
        "gzip                   | x-gzip",
        "gzip;q=0.5             | gzip;q=0.500",
        "gzip, gzip             | gzip",
        "gzip;q=0, *;q=0.1      | *;q=0.1,,gzip;q=0.0",
      })
  void equivalentAcceptEncodingMatches(String one, String other) {
    assertThat(
            matches("Accept-Encoding", get("Accept-Encoding", one), get("Accept-Encoding", other)))
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gzip            | gzip, br",
        "gzip            | gzip;q=0.9",
        "gzip            | gzip;q=0",
        "gzip            | identity",
        "gzip            | ''",
        "gzip;q=0, gzip  | gzip, gzip;q=0",
        "gzip;q=2        | gzip;q=3",
        "gzip;x=1        | gzip",
        "gzip br         | gzip, br",
      })
  void differentAcceptEncodingDoesNotMatch(String one, String other) {
    assertThat(
            matches("Accept-Encoding", get("Accept-Encoding", one), get("Accept-Encoding", other)))
        .isFalse();
  }

  @Test
  void acceptLanguageIgnoresCaseAndWhiteSpaceButNotOrder() {
    var original = get("Accept-Language", "en-GB, de;q=0.5");
    assertThat(matches("Accept-Language", original, get("Accept-Language", "EN-gb,de ;q=0.5")))
        .isTrue();
    assertThat(matches("Accept-Language", original, get("Accept-Language", "de;q=0.5, en-GB")))
        .isFalse();
  }

  @Test
  void acceptIgnoresWhiteSpaceOutsideQuotes() {
    var original = get("Accept", "text/html ;level=\"1, 2\", */*");
    assertThat(matches("Accept", original, get("Accept", "text/html; level=\"1, 2\",*/*")))
        .isTrue();
    assertThat(matches("Accept", original, get("Accept", "text/html;level=\"1,2\", */*")))
        .isFalse();
  }

  @Test
  void aValidationRequestTakesTheSelectingFieldsOfTheStoredResponse() {
    var selecting = SelectingFields.of(Fields.of("Vary", "Foo, Bar"), get("Foo", "1"), VaryBy.NONE);
    var request = get("Foo", "2", "Bar", "3");
    selecting.copyTo(request.fields());
    assertThat(selecting.matches(request)).isTrue();
  }

  private static boolean matches(String vary, RequestHead original, RequestHead presented) {
    return SelectingFields.of(Fields.of("Vary", vary), original, VaryBy.NONE).matches(presented);
  }

  private static RequestHead get(String... namesAndValues) {
    return RequestHead.of("GET", "http://example.org/", namesAndValues);
  }
}
