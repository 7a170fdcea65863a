package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §3.1: storing header fields. */
class StorableFieldsTest {

  private static final long T = 1_800_000_000;
  private static final String DATE = HttpDate.format(T - 5);

  @Test
  void unknownFieldsAreStoredInOrderAsTheyCame() {
    assertThat(stored("X-b", "2", "x-A", "1", "X-b", "3", "Date", DATE))
        .isEqualTo("X-b: 2\nx-A: 1\nX-b: 3\nDate: " + DATE + "\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Connection",
        "Keep-Alive",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "Proxy-Authenticate",
        "Proxy-Authentication-Info",
        "Proxy-Authorization",
        "Age",
        "content-length"
      })
  void fieldsForOneConnectionOrProxyAreNotStored(String name) {
    assertThat(stored(name, "x", "Date", DATE)).isEqualTo("Date: " + DATE + "\n");
  }

  @Test
  void fieldsThatConnectionNamesAreNotStored() {
    assertThat(
            stored(
                "Connection",
                "a, B",
                "Connection",
                "c",
                "A",
                "1",
                "b",
                "2",
                "C",
                "3",
                "d",
                "4",
                "Date",
                DATE))
        .isEqualTo("d: 4\nDate: " + DATE + "\n");
  }

  @Test
  void connectionCannotHideWhatForbids() {
    assertThat(stored("Connection", "cache-control", "Cache-Control", "no-cache", "Date", DATE))
        .contains("Cache-Control: no-cache");
  }

  @Test
  void fieldsThatQualifiedDirectivesNameAreNotStored() {
    assertThat(
            stored("Cache-Control", "no-cache=\"a\", private=\"b\"", "A", "1", "B", "2", "C", "3"))
        .contains("C: 3")
        .doesNotContain("A: 1")
        .doesNotContain("B: 2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "foo"})
  void anAbsentOrInvalidDateBecomesTheTimeOfReception(String date) {
    String expected = "Date: " + HttpDate.format(T) + "\n";
    assertThat(stored("Date", date)).isEqualTo(expected);
    assertThat(stored()).isEqualTo(expected);
  }

  private static String stored(String... namesAndValues) {
    Fields fields = Fields.of(namesAndValues);
    return StorableFields.of(fields, CacheControl.ofResponse(fields), T).toString();
  }
}
