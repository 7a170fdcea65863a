package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** RFC 9110 §5.6.2. */
class OctetsTest {

  private static final String TOKEN_SIGNS = "!#$%&'*+-.^_`|~";

  @Test
  void tokenOctetsAreThoseOfTheGrammarAndComeOutInLowerCase() {
    for (int octet = 0; octet < 256; octet++) {
      char c = (char) octet;
      boolean isUpper = c >= 'A' && c <= 'Z';
      boolean isToken =
          isUpper
              || (c >= 'a' && c <= 'z')
              || (c >= '0' && c <= '9')
              || TOKEN_SIGNS.indexOf(c) >= 0;
      int expected = isUpper ? octet + 32 : octet;
      assertThat(Octets.tokenLower((byte) octet)).isEqualTo((byte) (isToken ? expected : 0));
    }
  }

  @Test
  void aTokenIsNeverEmpty() {
    assertThat(Octets.isToken("x-1")).isTrue();
    assertThat(Octets.isToken("")).isFalse();
    assertThat(Octets.isToken("a b")).isFalse();
    assertThat(Octets.isToken("\u0141")).isFalse();
  }

  @Test
  void lowerCaseTouchesOnlyAsciiLetters() {
    for (int octet = 0; octet < 256; octet++) {
      int expected = octet >= 'A' && octet <= 'Z' ? octet + 32 : octet;
      assertThat(Octets.lower((byte) octet)).isEqualTo((byte) expected);
    }
  }

  @Test
  void comparisonIgnoresAsciiCaseOnly() {
    byte[] octets = Fields.octetsOf("-HeLLo-\u00c4");
    assertThat(Octets.equalsIgnoreCase(octets, 1, 6, "hEllO")).isTrue();
    assertThat(Octets.equalsIgnoreCase(octets, 1, 6, "hello!")).isFalse();
    assertThat(Octets.equalsIgnoreCase(octets, 1, 6, "jello")).isFalse();
    assertThat(Octets.equalsIgnoreCase(octets, 7, 8, "\u00e4")).isFalse();
    assertThat(Octets.equalsIgnoreCase(octets, 0, 0, "")).isTrue();
  }

  @Test
  void textKeepsEveryOctet() {
    byte[] octets = new byte[256];
    for (int i = 0; i < 256; i++) {
      octets[i] = (byte) i;
    }
    assertThat(Fields.octetsOf(Octets.text(octets, 0, 256))).isEqualTo(octets);
  }

  @Test
  void aWordHasItsFirstOctetLowest() {
    byte[] octets = {9, 1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
    assertThat(Octets.word(octets, 1)).isEqualTo(0x8807060504030201L);
  }
}
