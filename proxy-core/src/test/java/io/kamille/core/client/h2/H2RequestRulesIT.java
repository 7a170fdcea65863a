package io.kamille.core.client.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.FieldName;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is refused on HTTP/1 does not come in by HTTP/2 (RFC 9113 §8). */
class H2RequestRulesIT {

  private static final int PROTOCOL_ERROR = 1;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.H2);
  private final Queue<Exchange> begun = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    server.close();
  }

  /** A request with these fields behind the usual pseudo-fields. */
  private void isMalformed(String... fields) {
    String[] usual = {":method", "GET", ":scheme", "http", ":path", "/x", ":authority", "a"};
    String[] all = Arrays.copyOf(usual, usual.length + fields.length);
    System.arraycopy(fields, 0, all, usual.length, fields.length);
    isMalformedAlone(all);
  }

  /** These fields and no others. The stream is reset, nobody is asked, and the next is served. */
  private void isMalformedAlone(String... fields) {
    server.on("/x", begun::add);
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      assertThat(client.headers(1, true, fields).resetCode(1))
          .as(String.join(" ", fields))
          .isEqualTo(PROTOCOL_ERROR);
      assertThat(client.get(3, "/fine").answer(3).status()).isEqualTo(200);
    }
    assertThat(begun).isEmpty();
  }

  private int status(String... fields) {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      return client.headers(1, true, fields).answer(1).status();
    }
  }

  @Test
  void namesAreTokensInLowerCase() {
    isMalformed("X-Upper", "a");
    isMalformed("", "a");
    isMalformed("a b", "c");
    isMalformed("a:b", "c");
    isMalformed("a\r\nb", "c");
    isMalformed("a\0", "c");
    isMalformed("h\u00e4", "c");
  }

  @Test
  void valuesHaveNoControlOctetsAndNoBlanksAround() {
    isMalformed("a", "b\r\nc: d");
    isMalformed("a", "b\nc");
    isMalformed("a", "b\0c");
    isMalformed("a", "b\u007f");
    isMalformed("a", " b");
    isMalformed("a", "b ");
    isMalformed("a", "\tb");
  }

  @Test
  void fieldsThatConcernAConnectionAreMalformed() {
    isMalformed("connection", "close");
    isMalformed("keep-alive", "1");
    isMalformed("proxy-connection", "close");
    isMalformed("transfer-encoding", "chunked");
    isMalformed("upgrade", "h2c");
    isMalformed("http2-settings", "AAA");
    isMalformed("te", "gzip");
  }

  @Test
  void pseudoFieldsAreKnownOnceAndFirst() {
    isMalformed(":path", "/y");
    isMalformed(":status", "200");
    isMalformed(":unknown", "x");
    isMalformedAlone(":method", "GET", ":scheme", "http", "a", "b", ":path", "/x");
    isMalformedAlone(":scheme", "http", ":path", "/x", ":authority", "a");
    isMalformedAlone(":method", "GET", ":path", "/x", ":authority", "a");
    isMalformedAlone(":method", "GET", ":scheme", "http", ":authority", "a");
    isMalformedAlone(":method", "GET", ":scheme", "http", ":path", "", ":authority", "a");
    isMalformedAlone(":method", "G T", ":scheme", "http", ":path", "/x", ":authority", "a");
  }

  @Test
  void thePathIsAbsoluteAndVisible() {
    for (String path :
        new String[] {"x", "http://b/", "/a b", "/a#b", "/a\tb", "/\u007f", "*", "/a\r\nb"}) {
      isMalformedAlone(":method", "GET", ":scheme", "http", ":path", path, ":authority", "a");
    }
    assertThat(status(":method", "OPTIONS", ":scheme", "http", ":path", "*", ":authority", "a"))
        .isEqualTo(200);
  }

  @Test
  void thereIsOneValidAuthority() {
    isMalformed("host", "b");
    isMalformed("host", "a", "host", "a");
    isMalformedAlone(":method", "GET", ":scheme", "http", ":path", "/x");
    for (String authority : new String[] {"", "u@a", "a b", "a/b", "a:x", "a,b"}) {
      isMalformedAlone(":method", "GET", ":scheme", "http", ":path", "/x", ":authority", authority);
    }
  }

  @Test
  void aHostBesideTheAuthorityMayBeAnotherSpellingOfIt() {
    server.on(
        "/host",
        exchange ->
            TestServer.stored(
                exchange, String.valueOf(exchange.request().fields().joined(FieldName.HOST))));
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      assertThat(client.get(1, "/host", "host", "A:80").answer(1).content()).isIn("A:80", "a");
      client.headers(3, true, ":method", "GET", ":scheme", "http", ":path", "/host", "host", "b");
      assertThat(client.answer(3).content()).isEqualTo("b");
    }
  }

  @Test
  void theLengthIsOneNumberAndTrue() {
    isMalformed("content-length", "x");
    isMalformed("content-length", "-1");
    isMalformed("content-length", "1,1");
    isMalformed("content-length", "0", "content-length", "0");
    isMalformed("content-length", "9999999999999999999");
    isMalformed("content-length", "5");
  }

  @Test
  void connectIsAnsweredAndOpensNothing() {
    assertThat(status(":method", "CONNECT", ":authority", "a:443")).isEqualTo(405);
  }

  @Test
  void anotherSchemeBelongsOnAnotherConnection() {
    assertThat(status(":method", "GET", ":scheme", "https", ":path", "/x", ":authority", "a"))
        .isEqualTo(421);
  }

  @Test
  void aSchemeOrProtocolThatIsNoTokenIsMalformed() {
    for (String scheme : new String[] {"http\r\nx: y", "http://b/?", "ht tp", "http\0"}) {
      isMalformedAlone(":method", "GET", ":scheme", scheme, ":path", "/x", ":authority", "a");
    }
    isMalformedAlone(
        ":method",
        "CONNECT",
        ":protocol",
        "web\r\nsocket",
        ":scheme",
        "http",
        ":path",
        "/x",
        ":authority",
        "a");
  }

  @Test
  void limitsAreAnswered() {
    String longPath = "/" + "x".repeat(1_100);
    assertThat(status(":method", "GET", ":scheme", "http", ":path", longPath, ":authority", "a"))
        .isEqualTo(414);
    String method = "X".repeat(33);
    assertThat(status(":method", method, ":scheme", "http", ":path", "/x", ":authority", "a"))
        .isEqualTo(501);
  }

  @Test
  void trailersAreLookedAtAndEndTheRequest() {
    server.on("/take", exchange -> exchange.content().start(new Swallowing(exchange)));
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.request(1, "POST", "/take", false).data(1, "abc", false);
      assertThat(client.headers(1, true, "checksum", "1").answer(1).content()).isEqualTo("taken");
      client.request(3, "POST", "/take", false);
      assertThat(client.headers(3, true, ":path", "/y").resetCode(3)).isEqualTo(PROTOCOL_ERROR);
      client.request(5, "POST", "/take", false);
      assertThat(client.headers(5, false, "a", "b").resetCode(5)).isEqualTo(PROTOCOL_ERROR);
    }
  }
}
