package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.Cuts.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9112 §4 and §5, as they bind the one who reads a response. */
class ResponseParserTest {

  private static final HeadLimits LIMITS = new HeadLimits(0, 4, 512);

  @Test
  void theStatusLineIsVersionCodeReason() {
    assertThat(complete("HTTP/1.1 200 OK\r\nA: b\r\n\r\n")).isEqualTo("200|1.1\nA: b\n");
    assertThat(complete("HTTP/1.0 404 Not \t Found \u00e4\r\n\r\n")).isEqualTo("404|1.0\n");
  }

  @Test
  void theReasonMayBeAbsentEvenItsSpace() {
    assertThat(complete("HTTP/1.1 204 \r\n\r\n")).isEqualTo("204|1.1\n");
    assertThat(complete("HTTP/1.1 204\r\n\r\n")).isEqualTo("204|1.1\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"100", "101", "103", "199", "299", "599"})
  void everyNumberFrom100To599IsAStatusCode(String status) {
    assertThat(complete("HTTP/1.1 " + status + " x\r\n\r\n")).startsWith(status);
  }

  @Test
  void aHigherMinorVersionIsReadAsTheHighestWeKnow() {
    assertThat(complete("HTTP/1.7 200 OK\r\n\r\n")).isEqualTo("200|1.1\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\nHTTP/1.1 200 OK\r\n",
        " HTTP/1.1 200 OK\r\n",
        "http/1.1 200 OK\r\n",
        "HTTP/2.0 200 OK\r\n",
        "HTTP/2 200\r\n",
        "HTTP/0.9 200 OK\r\n",
        "HTTP/1.\r\n",
        "HTTP/1.x 200 OK\r\n",
        "HTTP/1.10 200 OK\r\n",
        "HTTP/1.1  200 OK\r\n",
        "HTTP/1.1\t200 OK\r\n",
        "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1 099 OK\r\n",
        "HTTP/1.1 000 OK\r\n",
        "HTTP/1.1 600 OK\r\n",
        "HTTP/1.1 999 OK\r\n",
        "HTTP/1.1 2x0 OK\r\n",
        "HTTP/1.1 -20 OK\r\n",
        "HTTP/1.1 200OK\r\n",
        "HTTP/1.1 200\tOK\r\n",
        "HTTP/1.1 200 O\0K\r\n",
        "HTTP/1.1 200 O\rK\r\n",
        "HTTP/1.1 200 OK\n",
        "HTTP/1.1 200\n",
        "HTTP/1.1 200 \n",
        "HTTP/1.1 20\r\n",
        "HTTP/1.1 \r\n",
        "HTTP/1.1\r\n",
        "ICY 200 OK\r\n",
        "<html>\r\n",
        "\r\n",
        "\n",
      })
  void aStatusLineOfAnyOtherShapeIsBad(String line) {
    assertThat(status(line + "A: b\r\n\r\n")).isEqualTo(502);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " A: b\r\n",
        "A : b\r\n",
        "A: b\r\n c\r\n",
        "A\r\n",
        "A: b\n",
        "A: \0\r\n",
        "A: b\rC: d\r\n",
        ": b\r\n",
      })
  void aFieldLineOfAnyOtherShapeIsBad(String line) {
    assertThat(status("HTTP/1.1 200 OK\r\n" + line + "\r\n")).isEqualTo(502);
  }

  @Test
  void limitsHoldToTheOctet() {
    String start = "HTTP/1.1 200 OK\r\nA: ";
    String longest = start + "a".repeat(512 - start.length() - 4) + "\r\n\r\n";
    assertThat(longest).hasSize(512);
    assertThat(complete(longest)).endsWith("a\n");
    assertThat(status(start + "a".repeat(512 - start.length() - 3) + "\r\n\r\n")).isEqualTo(502);
    String fields = "A: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\n";
    assertThat(complete("HTTP/1.1 200 OK\r\n" + fields + "\r\n")).endsWith("A: 4\n");
    assertThat(status("HTTP/1.1 200 OK\r\n" + fields + "A: 5\r\n\r\n")).isEqualTo(502);
  }

  @Test
  void aStatusLineWithoutEndIsGivenUpEarly() {
    Verdict verdict = Cuts.response(HeadLimits.RESPONSE, "HTTP/1.1 200 " + "x".repeat(2_000));
    assertThat(verdict.failure()).isEqualTo("502 a response head over its limit");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n",
        "Content-Length:\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      })
  void framingThatCanBeReadInTwoWaysIsBad(String fields) {
    assertThat(status("HTTP/1.1 200 OK\r\n" + fields + "\r\n")).isEqualTo(502);
  }

  @Test
  void http10HasNoTransferEncoding() {
    assertThat(status("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")).isEqualTo(502);
  }

  private static String complete(String octets) {
    Verdict verdict = Cuts.response(LIMITS, octets);
    assertThat(verdict.outcome()).as(verdict.failure()).isEqualTo("COMPLETE");
    return verdict.seen();
  }

  private static int status(String octets) {
    return Cuts.response(LIMITS, octets).status();
  }
}
