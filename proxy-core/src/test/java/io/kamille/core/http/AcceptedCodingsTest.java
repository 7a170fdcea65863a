package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §12.5.3: Accept-Encoding. */
class AcceptedCodingsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gzip                        | 1000 | 0    | 0
          gzip, deflate, br, zstd     | 1000 | 1000 | 1000
          GZip;Q=0.5,BR ;  q=0.123    | 500  | 123  | 0
          gzip;q=1.000, br;q=0.000    | 1000 | 0    | 0
          x-gzip;q=0.7                | 700  | 0    | 0
          *;q=0.5, gzip;q=0.1         | 100  | 500  | 500
          *, br;q=0                   | 1000 | 0    | 1000
          ''                          | 0    | 0    | 0
          identity                    | 0    | 0    | 0
          """)
  void section12_5_3_aCodingHasTheWeightOfItsMemberOrElseOfTheStar(
      String value, int gzip, int br, int zstd) {
    long accepted = AcceptedCodings.of(Fields.of("Accept-Encoding", value));
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.GZIP)).isEqualTo(gzip);
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.BR)).isEqualTo(br);
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.ZSTD)).isEqualTo(zstd);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip;q=2",
        "gzip;q=1.001",
        "gzip;q=0.1234",
        "gzip;q=",
        "gzip;",
        "gzip;level=9",
        "gzip br",
        "gzip;q=0.5;q=1",
        "g zip",
        "gzipp",
        "gzi",
        "\"gzip\"",
        "gzip;q=-1",
        "gzip;q=.5",
        ";q=1"
      })
  void section12_5_3_aMalformedMemberListsNothing(String member) {
    long accepted = AcceptedCodings.of(Fields.of("Accept-Encoding", member + ", br"));
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.GZIP)).isZero();
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.BR)).isEqualTo(1000);
  }

  @Test
  void section5_3_severalLinesAreOneList() {
    Fields request = Fields.of("Accept-Encoding", "gzip", "Accept-Encoding", "br;q=0.5");
    long accepted = AcceptedCodings.of(request);
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.GZIP)).isEqualTo(1000);
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.BR)).isEqualTo(500);
  }

  @Test
  void ofACodingListedTwiceTheLowerWeightCounts() {
    long accepted = AcceptedCodings.of(Fields.of("Accept-Encoding", "gzip;q=0, x-gzip"));
    assertThat(AcceptedCodings.weight(accepted, ContentCoding.GZIP)).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gzip",
        "*",
        "identity;q=0.001",
        "*;q=0, identity",
        "gzip;q=0",
        "identity;q=x"
      })
  void section12_5_3_identityIsAcceptableUnlessExcluded(String value) {
    assertThat(AcceptedCodings.refuseIdentity(Fields.of("Accept-Encoding", value))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"identity;q=0", "gzip, identity;q=0.000", "*;q=0", "br, *;q=0.0"})
  void section12_5_3_identityIsExcludedByItsOwnMemberOrByTheStar(String value) {
    assertThat(AcceptedCodings.refuseIdentity(Fields.of("Accept-Encoding", value))).isTrue();
  }

  @Test
  void section12_5_3_aRequestWithoutTheFieldExcludesNothing() {
    assertThat(AcceptedCodings.refuseIdentity(Fields.of("Accept", "*/*"))).isFalse();
  }

  @Test
  void anyOctetsCanBeRead() {
    Random random = new Random(7);
    String octets = "gzipbrstd*;q=01., identy\t\"x\u00ff";
    for (int round = 0; round < 50_000; round++) {
      StringBuilder value = new StringBuilder();
      for (int length = random.nextInt(24); length > 0; length--) {
        value.append(octets.charAt(random.nextInt(octets.length())));
      }
      long accepted = AcceptedCodings.of(Fields.of("Accept-Encoding", value.toString()));
      for (ContentCoding coding : ContentCoding.values()) {
        assertThat(AcceptedCodings.weight(accepted, coding))
            .as(value.toString())
            .isBetween(0, 1000);
      }
      assertThat(AcceptedCodings.identityWeight(accepted)).isBetween(0, 1000);
    }
  }
}
