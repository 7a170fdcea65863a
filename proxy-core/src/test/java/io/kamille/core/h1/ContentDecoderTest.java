package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.Cuts.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9112 §6 and §7, as they bind the one who reads content. */
class ContentDecoderTest {

  // Content-Length (§6.2)

  @Test
  void contentOfKnownLengthEndsThere() {
    Verdict verdict = Cuts.content(5, "12345GET /");
    assertThat(verdict.outcome()).isEqualTo("COMPLETE");
    assertThat(verdict.seen()).isEqualTo("12345");
    assertThat(verdict.rest()).isEqualTo("GET /");
  }

  @Test
  void contentOfKnownLengthMayNotStopShort() {
    assertThat(Cuts.content(5, "1234").outcome()).isEqualTo("NEED_MORE");
  }

  @Test
  void contentWithoutLengthGoesOn() {
    Verdict verdict = Cuts.content(MessageFraming.UNTIL_CLOSE, "0\r\n\r\n");
    assertThat(verdict.outcome()).isEqualTo("NEED_MORE");
    assertThat(verdict.seen()).isEqualTo("0\r\n\r\n");
    assertThat(ContentDecoder.of(MessageFraming.UNTIL_CLOSE).endsWithConnection()).isTrue();
    assertThat(ContentDecoder.of(MessageFraming.CHUNKED).endsWithConnection()).isFalse();
    assertThat(ContentDecoder.of(0).endsWithConnection()).isFalse();
  }

  // Chunked (§7.1)

  @Test
  void chunksAreJoined() {
    Verdict verdict = chunked("5\r\nhello\r\n1\r\n \r\n00005\r\nworld\r\n0\r\n\r\nGET /");
    assertThat(verdict.outcome()).isEqualTo("COMPLETE");
    assertThat(verdict.seen()).isEqualTo("hello world");
    assertThat(verdict.rest()).isEqualTo("GET /");
  }

  @Test
  void sizesAreHexadecimalInEitherCase() {
    assertThat(complete("aA\r\n" + "x".repeat(170) + "\r\n0\r\n\r\n")).hasSize(170);
  }

  @Test
  void chunksMayContainWhatLooksLikeFraming() {
    assertThat(complete("7\r\n\r\n0\r\n\r\n\r\n000\r\n\r\n")).isEqualTo("\r\n0\r\n\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ";",
        ";a",
        ";a=b",
        ";a=\"b;\t\u00e4\"",
        ";a=\"\\\"\\\\;\"",
        ";a=\"\";b",
        " ;a",
        "\t \t; a = b"
      })
  void extensionsAreIgnored(String extension) {
    assertThat(complete("1" + extension + "\r\nx\r\n0" + extension + "\r\n\r\n")).isEqualTo("x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n",
        ";a\r\n",
        " 1\r\nx\r\n",
        "+1\r\nx\r\n",
        "-1\r\nx\r\n",
        "0x1\r\nx\r\n",
        "g\r\n",
        "1g\r\n",
        "\uff11\r\n",
        "1\nx\r\n",
        "1\rx\r\n",
        "1\r\r\nx\r\n",
        "1 \r\nx\r\n",
        "1\t\r\nx\r\n",
        "1 x\r\n",
        "1;a\nx\r\n",
        "1;\0\r\nx\r\n",
        "1;\u007f\r\nx\r\n",
        "1;a\rb\r\nx\r\n",
        "1;a=\"\r\nx\r\n",
        "1;a=\"\nx\r\n",
        "1;a=\"\0\"\r\nx\r\n",
        "1;a=\"\\\r\n\"\r\nx\r\n",
        "1;a=\"\\\"\r\nx\r\n",
        "1;a=\"\\\0\"\r\nx\r\n",
        "1;a\\\"b\"\r\nx\r\n",
        "1\r\nxy\r\n",
        "1\r\nx\n",
        "1\r\nx\r\r\n",
        "1\r\nx\rX",
        "1\r\nx1\r\n",
        "0\n\r\n",
        "0\r\r\n",
        "1000000000000000\r\n",
        "ffffffffffffffff1\r\n",
        "0000000000000001\r\n",
      })
  void brokenChunksAreMalformed(String octets) {
    Verdict verdict = chunked(octets + "0\r\n\r\n");
    assertThat(verdict.outcome()).isEqualTo("MALFORMED");
  }

  @Test
  void theGreatestSizeIsTakenAtItsWord() {
    Verdict verdict = chunked("fffffffffffffff\r\nabc");
    assertThat(verdict.outcome()).isEqualTo("NEED_MORE");
    assertThat(verdict.seen()).isEqualTo("abc");
  }

  @Test
  void extensionsOfAWholeMessageAreLimited() {
    String chunk = "1;" + "e".repeat(1_000) + "\r\nx\r\n";
    assertThat(complete(chunk.repeat(16) + "0\r\n\r\n")).hasSize(16);
    assertThat(chunked(chunk.repeat(17)).failure()).contains("chunk extensions over their limit");
    assertThat(chunked("1" + " ".repeat(17_000)).outcome()).isEqualTo("MALFORMED");
  }

  @Test
  void contentThatGoesOnNeedsMore() {
    String octets = "2;a\r\nxy\r\n0\r\nA: b\r\n\r\n";
    for (int length = 1; length < octets.length(); length++) {
      assertThat(chunked(octets.substring(0, length)).outcome()).isEqualTo("NEED_MORE");
    }
  }

  // Trailers (§7.1.2)

  @Test
  void trailersArePassedOn() {
    Verdict verdict = chunked("1\r\nx\r\n0\r\nDigest: d\r\nServer-Timing: \t1 \r\n\r\nrest");
    assertThat(verdict.seen()).isEqualTo("x\n--\nDigest: d\nServer-Timing: 1\n");
    assertThat(verdict.rest()).isEqualTo("rest");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 5",
        "transfer-encoding: chunked",
        "HOST: evil",
        "Connection: close",
        "Upgrade: h2c",
        "TE: trailers",
        "Trailer: A",
        "Authorization: Basic eDp5",
        "Proxy-Authorization: Basic eDp5",
        "Set-Cookie: a=b",
        "Cookie: a=b",
        "Cache-Control: public",
        "Expires: 0",
        "Age: 0",
        "Vary: *",
        "Content-Type: text/html",
        "Content-Encoding: gzip",
        "Content-Range: bytes 0-1/2",
        "Expect: 100-continue",
        "Range: bytes=0-1",
        "If-None-Match: \"a\"",
        "Max-Forwards: 1",
        "X-Forwarded-For: 127.0.0.1",
        "Forwarded: for=127.0.0.1",
        "Location: /",
      })
  void trailersThatFrameRouteOrModifyAreDropped(String line) {
    // RFC 9110 §6.5.1
    assertThat(complete("0\r\n" + line + "\r\n\r\n")).isEmpty();
    assertThat(complete("0\r\nA: b\r\n" + line + "\r\n\r\n")).isEqualTo("\n--\nA: b\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " A: b\r\n",
        "A : b\r\n",
        "A: b\r\n c\r\n",
        "A: b\n",
        "A\r\n",
        "A: \0\r\n",
        ": b\r\n",
        "GET / HTTP/1.1\r\n",
        "\n",
        "\rX",
      })
  void brokenTrailersAreMalformed(String lines) {
    assertThat(chunked("0\r\n" + lines + "\r\n").outcome()).isEqualTo("MALFORMED");
  }

  @Test
  void trailersAreLimited() {
    assertThat(complete("0\r\n" + "A: b\r\n".repeat(32) + "\r\n")).contains("A: b");
    assertThat(chunked("0\r\n" + "A: b\r\n".repeat(33) + "\r\n").outcome()).isEqualTo("MALFORMED");
    assertThat(chunked("0\r\nA: " + "b".repeat(8_200)).outcome()).isEqualTo("MALFORMED");
  }

  private static Verdict chunked(String octets) {
    return Cuts.content(MessageFraming.CHUNKED, octets);
  }

  private static String complete(String octets) {
    Verdict verdict = chunked(octets);
    assertThat(verdict.outcome()).as(verdict.failure()).isEqualTo("COMPLETE");
    assertThat(verdict.rest()).isEmpty();
    return verdict.seen();
  }
}
