package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.Cuts.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9112 §2, §3 and §5, as they bind the one who reads a request. */
class RequestParserTest {

  private static final HeadLimits LIMITS = new HeadLimits(64, 4, 512);
  private static final String HOST = "Host: a\r\n";

  // Request line (§3)

  @Test
  void theRequestLineIsMethodTargetVersion() {
    assertThat(complete("GET /a?b HTTP/1.1\r\n" + HOST + "\r\n"))
        .isEqualTo("GET|ORIGIN|/a?b|a|/a|/a?b|1.1\nHost: a\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PURGE", "M-SEARCH", "get", "!#$%&'*+-.^_`|~0", "PRI"})
  void everyTokenIsAMethod(String method) {
    assertThat(complete(method + " / HTTP/1.1\r\n" + HOST + "\r\n")).startsWith(method + "|");
  }

  @Test
  void methodsAreCaseSensitive() {
    RequestParser parser = new RequestParser(LIMITS);
    parser.parse(
        io.netty.buffer.Unpooled.copiedBuffer(
            "get / HTTP/1.1\r\n" + HOST + "\r\n", java.nio.charset.StandardCharsets.US_ASCII));
    assertThat(parser.head().method()).isEqualTo(io.kamille.core.http.Method.OTHER);
  }

  @Test
  void aMethodOfMoreThan32OctetsIsNotImplemented() {
    assertThat(complete("M".repeat(32) + " / HTTP/1.1\r\n" + HOST + "\r\n")).startsWith("M");
    assertThat(status("M".repeat(33) + " / HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(501);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " GET / HTTP/1.1\r\n",
        "GET  / HTTP/1.1\r\n",
        "GET /  HTTP/1.1\r\n",
        "GET\t/ HTTP/1.1\r\n",
        "GET /\tHTTP/1.1\r\n",
        "GET / HTTP/1.1 \r\n",
        "GET / a HTTP/1.1\r\n",
        "GET /\r\n",
        "GET\r\n",
        "GET \r\n",
        "GET  HTTP/1.1\r\n",
        "/ HTTP/1.1\r\n",
        "G(T / HTTP/1.1\r\n",
        "G\u00c4T / HTTP/1.1\r\n",
        "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\r\r\n",
        "GET / HTTP/1.1\rX\n",
        "GET /\n",
        "\0GET / HTTP/1.1\r\n",
        "GET /\0 HTTP/1.1\r\n",
        "GET /\u007f HTTP/1.1\r\n",
        "GET /\u00e4 HTTP/1.1\r\n",
        "GET /#fragment HTTP/1.1\r\n",
        "GET / http/1.1\r\n",
        "GET / HTTP/1\r\n",
        "GET / HTTP/11\r\n",
        "GET / HTTP/1.\r\n",
        "GET / HTTP/1.10\r\n",
        "GET / HTTP/01.1\r\n",
        "GET / HTTP/ 1.1\r\n",
        "GET / HTTP /1.1\r\n",
        "GET / HTTPS/1.1\r\n",
        "GET / ICAP/1.0\r\n",
        "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\n",
      })
  void aRequestLineOfAnyOtherShapeIsBad(String line) {
    assertThat(status(line + HOST + "\r\n")).isEqualTo(400);
  }

  @Test
  void emptyLinesBeforeTheRequestLineAreIgnored() {
    // §2.2: "SHOULD ignore at least one empty line (CRLF) received prior to the request-line"
    assertThat(complete("\r\n\r\nGET / HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("GET|ORIGIN|/|a|");
    assertThat(status("\rGET / HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
    assertThat(status("\n\r\nGET / HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
  }

  @Test
  void emptyLinesCountAsPartOfTheHead() {
    assertThat(status("\r\n".repeat(257))).isEqualTo(414);
  }

  // Versions (§2.3; RFC 9110 §6.2)

  @Test
  void aHigherMinorVersionIsReadAsTheHighestWeKnow() {
    assertThat(complete("GET / HTTP/1.2\r\n" + HOST + "\r\n")).contains("|1.1\n");
    assertThat(complete("GET / HTTP/1.9\r\n" + HOST + "\r\n")).contains("|1.1\n");
    assertThat(complete("GET / HTTP/1.0\r\n" + HOST + "\r\n")).contains("|1.0\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.9", "2.0", "3.0", "9.9", "0.0"})
  void anotherMajorVersionIsNotSupported(String version) {
    assertThat(status("GET / HTTP/" + version + "\r\n" + HOST + "\r\n")).isEqualTo(505);
  }

  // Request target (§3.2)

  @Test
  void originFormKeepsPathAndQueryAsTheyCame() {
    assertThat(complete("GET //a/../%2e?x=?&y HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("GET|ORIGIN|//a/../%2e?x=?&y|a|//a/../%2e|//a/../%2e?x=?&y|");
  }

  @Test
  void absoluteFormOverrulesHost() {
    // §3.2.2: "MUST ignore the received Host header field"
    assertThat(complete("GET http://b:81/c?d HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("GET|ABSOLUTE|http://b:81/c?d|b:81|/c|/c?d|");
    assertThat(complete("GET HTTPS://b HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("GET|ABSOLUTE|HTTPS://b|b|/|/|");
    assertThat(complete("GET http://b?d HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("GET|ABSOLUTE|http://b?d|b|/|/?d|");
    assertThat(complete("GET http://b/ HTTP/1.1\r\nHost:\r\n\r\n")).contains("|b|");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://",
        "http:///a",
        "http://?a",
        "http:/a",
        "http:a",
        "http://user@b/",
        "http://user:secret@b/",
        "http://b:x/",
        "http://b:65536/",
        "http://b\\c/",
        "http://[::1/",
        "ftp://b/",
        "ws://b/",
        "a/b",
        "?a",
        "b:80",
        "*",
        "**",
        "\\a",
      })
  void aTargetOfNoFormIsBad(String target) {
    assertThat(status("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
  }

  @Test
  void asteriskFormIsForOptions() {
    assertThat(complete("OPTIONS * HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("OPTIONS|ASTERISK|*|a|");
    assertThat(status("OPTIONS ** HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
    assertThat(status("options * HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
  }

  @Test
  void authorityFormIsForConnect() {
    assertThat(complete("CONNECT b:443 HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("CONNECT|AUTHORITY|b:443|b:443|");
    assertThat(complete("CONNECT [::1]:443 HTTP/1.1\r\n" + HOST + "\r\n"))
        .startsWith("CONNECT|AUTHORITY|[::1]:443|[::1]:443|");
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", "b:", "/", "*", ":443", "http://b:443/", "u@b:443", "b:443/"})
  void connectWantsHostAndPort(String target) {
    assertThat(status("CONNECT " + target + " HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(400);
  }

  // Host (§3.2, §3.3)

  @Test
  void http11NeedsAHost() {
    assertThat(status("GET / HTTP/1.1\r\n\r\n")).isEqualTo(400);
    assertThat(status("GET http://b/ HTTP/1.1\r\n\r\n")).isEqualTo(400);
    assertThat(status("GET / HTTP/1.1\r\nHost:\r\n\r\n")).isEqualTo(400);
    assertThat(status("GET / HTTP/1.1\r\nHost: \t \r\n\r\n")).isEqualTo(400);
  }

  @Test
  void http10MayComeWithout() {
    assertThat(complete("GET / HTTP/1.0\r\n\r\n")).startsWith("GET|ORIGIN|/||/|/|1.0");
    assertThat(complete("GET / HTTP/1.0\r\nHost:\r\n\r\n")).startsWith("GET|ORIGIN|/||/|/|1.0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nHOST: b\r\n\r\n",
        "GET http://c/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      })
  void moreThanOneHostIsBad(String head) {
    assertThat(status(head)).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a b",
        "a/b",
        "a,b ,c",
        "a,b",
        "a,",
        "a@b",
        "http://a",
        "a:b",
        "a:80:81",
        "a:99999",
        ":80",
        "a?b",
        "a#b",
        "a\\b",
        "[::1",
        "::1",
        "[::1]x",
        "[]",
        "[:]",
        "[1:2]",
        "[g::]",
        "a%2",
        "a%zz",
        "\u00e4",
        "\"a\"",
        "<a>"
      })
  void aHostThatIsNoHostIsBad(String host) {
    assertThat(status("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")).isEqualTo(400);
    assertThat(status("GET http://b/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n")).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "a.",
        "A.B",
        "a:80",
        "a:",
        "1.2.3.4",
        "[::1]",
        "[::1]:8080",
        "a_b",
        "xn--bcher-kva",
        "a%20b",
        "a!$&'()*+;=b"
      })
  void aHostIsARegisteredNameOrAnAddress(String host) {
    assertThat(complete("GET / HTTP/1.1\r\nHost: \t" + host + " \t\r\n\r\n"))
        .startsWith("GET|ORIGIN|/|" + host + "|");
  }

  // Field lines (§5)

  @Test
  void whiteSpaceAroundAValueIsNoPartOfIt() {
    assertThat(complete("GET / HTTP/1.1\r\nHost:a\r\nB:\t c  d \t\r\nE:\r\nF: \r\n\r\n"))
        .endsWith("\nHost: a\nB: c  d\nE: \nF: \n");
  }

  @Test
  void aValueMayHaveObsoleteTextAndTabs() {
    assertThat(complete("GET / HTTP/1.1\r\n" + HOST + "B: \u00ff\u0080 \t\u00e4\r\n\r\n"))
        .endsWith("\nB: \u00ff\u0080 \t\u00e4\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " Host: b\r\n", // folded or a field before the first (§2.2)
        "B: c\r\n d\r\n", // §5.2
        "B: c\r\n\td\r\n",
        "B: c\r\n \r\n",
        "B : c\r\n", // §5.1: no white space between name and colon
        "B\t: c\r\n",
        "B c: d\r\n",
        ": c\r\n",
        "B\r\n",
        "B",
        "B\n: c\r\n",
        "B: c\n",
        "B: c\rd\r\n",
        "B: c\r\r\n",
        "B: c\nD: e\r\n",
        "B: \0\r\n",
        "B\0: c\r\n",
        "B: c\u0001\r\n",
        "B: c\u001f\r\n",
        "B: c\u007f\r\n",
        "B: c\u000b\r\n",
        "B: 1234567\u0008\r\n",
        "B\u00e4: c\r\n",
        "B(: c\r\n",
        "B\u007f: c\r\n",
        "\u00ff: c\r\n",
        "@: c\r\n",
        "B[]: c\r\n",
      })
  void aFieldLineOfAnyOtherShapeIsBad(String line) {
    assertThat(status("GET / HTTP/1.1\r\n" + HOST + line + "\r\n")).isEqualTo(400);
    assertThat(status("GET / HTTP/1.1\r\n" + line + HOST + "\r\n")).isEqualTo(400);
  }

  @Test
  void everyControlOctetInAValueIsBadWhereverItStands() {
    for (int octet = 0; octet < 256; octet++) {
      boolean bad = (octet < 0x20 && octet != '\t') || octet == 0x7f;
      for (int before = 0; before < 18; before++) {
        String value = "x".repeat(before) + (char) octet + "yyyyyyyyy";
        Verdict verdict = atOnce("GET / HTTP/1.1\r\n" + HOST + "B: " + value + "\r\n\r\n");
        assertThat(verdict.isMalformed()).as("octet %d behind %d", octet, before).isEqualTo(bad);
      }
    }
  }

  @Test
  void everyOctetThatIsNoTokenIsBadInAName() {
    String token = "!#$%&'*+-.^_`|~";
    for (char octet = 0; octet < 256; octet++) {
      boolean good =
          token.indexOf(octet) >= 0
              || (octet >= '0' && octet <= '9')
              || (octet >= 'A' && octet <= 'Z')
              || (octet >= 'a' && octet <= 'z');
      Verdict verdict = atOnce("GET / HTTP/1.1\r\n" + HOST + "B" + octet + "c: d\r\n\r\n");
      if (octet != ':') {
        assertThat(verdict.isComplete()).as("octet %d", (int) octet).isEqualTo(good);
      }
    }
  }

  @Test
  void theSectionEndsWithCrLfOnly() {
    assertThat(status("GET / HTTP/1.1\r\n" + HOST + "\n\r\n")).isEqualTo(400);
    assertThat(status("GET / HTTP/1.1\r\n" + HOST + "\r\r\n\n")).isEqualTo(400);
    assertThat(status("GET / HTTP/1.1\r\n" + HOST + "\rX\r\n")).isEqualTo(400);
  }

  @Test
  void whatStandsBehindTheHeadIsLeftAlone() {
    Verdict verdict = verdict("GET / HTTP/1.1\r\n" + HOST + "\r\n\r\nGET \0");
    assertThat(verdict.isComplete()).isTrue();
    assertThat(verdict.rest()).isEqualTo("\r\nGET \0");
  }

  @Test
  void aHeadThatGoesOnNeedsMore() {
    String head = "GET / HTTP/1.1\r\n" + HOST + "\r\n";
    for (int length = 1; length < head.length(); length++) {
      assertThat(verdict(head.substring(0, length)).outcome()).isEqualTo("NEED_MORE");
    }
  }

  // Limits

  @Test
  void aTargetMayBeAsLongAsItsLimit() {
    String longest = "/" + "a".repeat(63);
    assertThat(complete("GET " + longest + " HTTP/1.1\r\n" + HOST + "\r\n")).contains(longest);
    assertThat(status("GET " + longest + "a HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo(414);
    String method = "M".repeat(32);
    assertThat(complete(method + " " + longest + " HTTP/1.1\r\n" + HOST + "\r\n"))
        .contains(longest);
  }

  @Test
  void aTargetWithoutEndIsGivenUpEarly() {
    assertThat(status("GET /" + "a".repeat(200))).isEqualTo(414);
    assertThat(status("GET" + "T".repeat(200))).isEqualTo(414);
    assertThat(verdict("GET /" + "a".repeat(100)).outcome()).isEqualTo("NEED_MORE");
  }

  @Test
  void thereMayBeAsManyFieldsAsTheLimitSays() {
    String fields = HOST + "B: 1\r\nC: 2\r\nD: 3\r\n";
    assertThat(complete("GET / HTTP/1.1\r\n" + fields + "\r\n")).endsWith("D: 3\n");
    assertThat(status("GET / HTTP/1.1\r\n" + fields + "E: 4\r\n\r\n")).isEqualTo(431);
  }

  @Test
  void aHeadMayBeAsLongAsItsLimit() {
    String line = "GET / HTTP/1.1\r\n";
    int filling = 512 - line.length() - HOST.length() - "B: \r\n\r\n".length();
    String longest = line + HOST + "B: " + "b".repeat(filling) + "\r\n\r\n";
    assertThat(longest).hasSize(512);
    assertThat(complete(longest)).endsWith("b\n");
    assertThat(verdict(longest + "GET").rest()).isEqualTo("GET");
    String longer = line + HOST + "B: " + "b".repeat(filling + 1) + "\r\n\r\n";
    assertThat(status(longer)).isEqualTo(431);
    assertThat(status(line + HOST + "B: " + "b".repeat(600))).isEqualTo(431);
  }

  @Test
  void headsLongerThanOneReadAreWhole() {
    String target = "/" + "t".repeat(3_000);
    String head =
        "GET " + target + " HTTP/1.1\r\n" + HOST + "Cookie: " + "c".repeat(5_000) + "\r\n\r\n";
    Verdict verdict = Cuts.request(HeadLimits.REQUEST, head + "rest");
    assertThat(verdict.seen()).contains("|" + target + "|").contains("c".repeat(5_000) + "\n");
    assertThat(verdict.rest()).isEqualTo("rest");
  }

  // Framing (§6)

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: \r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: 1 1\r\n",
        "Content-Length: 1.0\r\n",
        "Content-Length: 1,1\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: \u00b2\r\n",
        "Content-Length: 1234567890123456789\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\ncontent-length: 2\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: chunked,\r\n",
      })
  void framingThatCanBeReadInTwoWaysIsBad(String fields) {
    assertThat(status("POST / HTTP/1.1\r\n" + HOST + fields + "\r\n")).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: , chunked\r\n",
      })
  void otherTransferCodingsAreNotImplemented(String fields) {
    assertThat(status("POST / HTTP/1.1\r\n" + HOST + fields + "\r\n")).isEqualTo(501);
  }

  @Test
  void http10HasNoTransferEncoding() {
    assertThat(status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")).isEqualTo(400);
  }

  private static String complete(String octets) {
    Verdict verdict = verdict(octets);
    assertThat(verdict.outcome()).as(verdict.failure()).isEqualTo("COMPLETE");
    return verdict.seen();
  }

  private static int status(String octets) {
    return verdict(octets).status();
  }

  private static Verdict verdict(String octets) {
    return Cuts.request(LIMITS, octets);
  }

  private static Verdict atOnce(String octets) {
    return Cuts.requestAtOnce(LIMITS, octets);
  }
}
