package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTlsSettings;
import io.kamille.core.tls.OriginTrust;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** TLS with origins: whom we believe, what goes wrong, and what ends a message (RFC 9525). */
class OriginTlsTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final Script ANSWERS = OriginTlsTest::answers;

  private final Certificates authority = new Certificates("authority");
  private final ServerCertificate good = authority.ecdsa("127.0.0.1", "origin.test");

  OriginTlsTest() throws GeneralSecurityException {}

  private static void answers(Conversation with) throws IOException {
    while (true) {
      with.readHead();
      with.send(OK);
    }
  }

  private OriginTls tls(@Nullable String name) throws IOException {
    return tls(name, null);
  }

  private OriginTls tls(@Nullable String name, @Nullable ServerCertificate own) throws IOException {
    var settings = Sections.copy(OriginTlsSettings.DEFAULTS).with("name", name).record();
    return OriginTls.open(
        settings, new OriginTrust(List.of(authority.authority()), own), List.of("http/1.1"));
  }

  private static Failure failure(OriginTls tls, ScriptedOrigin origin) throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, tls, origin)) {
      return fixture.get("/").failure();
    }
  }

  // Whom we believe

  @Test
  void requestsGoByTlsAndConnectionsAreUsedAgain() throws Exception {
    try (var origin = ScriptedOrigin.open(Certificates.server(good), ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, tls(null), origin)) {
      assertThat(fixture.get("/a").content()).isEqualTo("ok");
      assertThat(fixture.get("/b").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
      assertThat(origin.heads().getFirst()).startsWith("GET /a HTTP/1.1\r\nHost: example.org\r\n");
    }
  }

  @Test
  void theNameOfTheSettingsIsAskedForAndExpected() throws Exception {
    CompletableFuture<String> asked = new CompletableFuture<>();
    Script notesTheName =
        with -> {
          with.readHead();
          asked.complete(String.valueOf(with.serverName()));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(Certificates.server(good), notesTheName);
        var fixture = new UpstreamFixture(SETTINGS, tls("origin.test"), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(await(asked)).isEqualTo("origin.test");
    }
  }

  @Test
  void aNameOfOneLabelIsAskedForToo() throws Exception {
    CompletableFuture<String> asked = new CompletableFuture<>();
    Script notesTheName =
        with -> {
          with.readHead();
          asked.complete(String.valueOf(with.serverName()));
          with.send(OK);
        };
    var certificate = authority.ecdsa("backend");
    try (var origin = ScriptedOrigin.open(Certificates.server(certificate), notesTheName);
        var fixture = new UpstreamFixture(SETTINGS, tls("backend"), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(await(asked)).isEqualTo("backend");
    }
  }

  @Test
  void aCertificateForAnotherNameIsRefused() throws Exception {
    try (var origin = ScriptedOrigin.open(Certificates.server(good), ANSWERS, ANSWERS)) {
      Failure failure = failure(tls("other.test"), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_CERTIFICATE_ERROR);
      assertThat(failure.status()).isEqualTo(502);
      assertThat(failure.reason()).contains("a certificate that is not for other.test");
      assertThat(origin.heads()).isEmpty();
    }
  }

  /** RFC 9110 §4.3.4: a CN-ID is no name of a server. */
  @Test
  void aNameInCnAloneIsNoName() throws Exception {
    var named = Certificates.server(authority.named("cnonly.test"));
    try (var origin = ScriptedOrigin.open(named, ANSWERS, ANSWERS)) {
      Failure failure = failure(tls("cnonly.test"), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_CERTIFICATE_ERROR);
      assertThat(failure.reason()).contains("no name in subjectAltName");
      assertThat(origin.heads()).isEmpty();
    }
  }

  /** RFC 6066 §3. */
  @Test
  void aDotAtTheEndIsNoPartOfTheNameThatACertificateIsFor() throws Exception {
    assertThat(tls(null).name("backend.test.")).isEqualTo("backend.test");
    assertThat(tls("other.test").name("backend.test.")).isEqualTo("other.test");
  }

  @Test
  void anExpiredCertificateIsRefused() throws Exception {
    var expired = Certificates.server(authority.expired("127.0.0.1"));
    try (var origin = ScriptedOrigin.open(expired, ANSWERS, ANSWERS)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_CERTIFICATE_ERROR);
      assertThat(failure.reason()).contains("an expired certificate: NotAfter");
      assertThat(origin.heads()).isEmpty();
    }
  }

  @Test
  void aCertificateOfAnUnknownAuthorityIsRefused() throws Exception {
    var unknown = Certificates.server(new Certificates("somebody").ecdsa("127.0.0.1"));
    try (var origin = ScriptedOrigin.open(unknown, ANSWERS, ANSWERS)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_CERTIFICATE_ERROR);
      assertThat(failure.reason()).contains("a certificate of an unknown authority");
      assertThat(origin.heads()).isEmpty();
    }
  }

  @Test
  void withoutVerificationEveryCertificateWillDo() throws Exception {
    var unknown = Certificates.server(new Certificates("somebody").expired("somewhere.test"));
    var careless = Sections.of(OriginTlsSettings.SECTION, "verify: off");
    try (var origin = ScriptedOrigin.open(unknown, ANSWERS);
        var fixture =
            new UpstreamFixture(
                SETTINGS,
                OriginTls.open(careless, new OriginTrust(List.of(), null), List.of("http/1.1")),
                origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  @Test
  void anOriginThatAsksIsShownOurCertificate() throws Exception {
    var asking = Certificates.server(good, authority.authority());
    CompletableFuture<String> shown = new CompletableFuture<>();
    Script asks =
        with -> {
          with.requireCertificate();
          with.readHead();
          shown.complete(with.peer());
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(asking, asks);
        var fixture =
            new UpstreamFixture(SETTINGS, tls(null, authority.ecdsa("kamille.test")), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(await(shown)).isEqualTo("CN=kamille.test");
    }
  }

  // Who the client is

  private static UpstreamSettings naming() {
    return Sections.copy(SETTINGS).with("connection.proxyProtocol", ProxyAnnouncement.V1).record();
  }

  @Test
  void aHeaderThatNamesTheClientComesBeforeTls() throws Exception {
    List<String> named = new CopyOnWriteArrayList<>();
    SSLContext known = Certificates.server(good);
    Script namedAndSecured =
        with -> {
          named.add(with.readUntil("\r\n"));
          with.secure(known);
          with.readHead();
          with.send(OK);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(namedAndSecured, namedAndSecured);
        var fixture = new UpstreamFixture(naming(), tls(null), origin)) {
      assertThat(fixture.get("/a").content()).isEqualTo("ok");
      assertThat(fixture.get("/b").content()).isEqualTo("ok");
      assertThat(origin.heads().getLast()).startsWith("GET /b HTTP/1.1\r\n");
      assertThat(origin.connections()).isEqualTo(2);
    }
    String header = "PROXY TCP4 192.0.2.7 192.0.2.1 40000 80\r\n";
    assertThat(named).containsExactly(header, header);
  }

  @Test
  void troubleWithTlsBehindSuchAHeaderIsToldAsElsewhere() throws Exception {
    SSLContext old = Certificates.server(authority.expired("127.0.0.1"));
    Script expired =
        with -> {
          with.readUntil("\r\n");
          with.secure(old);
          with.readHead();
        };
    Script clear =
        with -> {
          with.readUntil("\r\n");
          with.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
          with.readToEnd();
        };
    assertThat(troubleBehindHeader(expired)).isEqualTo(ErrorType.TLS_CERTIFICATE_ERROR);
    assertThat(troubleBehindHeader(clear)).isEqualTo(ErrorType.TLS_PROTOCOL_ERROR);
  }

  private ErrorType troubleBehindHeader(Script script) throws Exception {
    try (var origin = ScriptedOrigin.open(script, script, script);
        var fixture = new UpstreamFixture(naming(), tls(null), origin)) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.status()).isEqualTo(502);
      assertThat(origin.heads()).isEmpty();
      return failure.kind();
    }
  }

  // What goes wrong

  @Test
  void anOriginThatMissesOurCertificateSendsAnAlert() throws Exception {
    var asking = Certificates.server(good, authority.authority());
    Script asks =
        with -> {
          with.requireCertificate();
          with.readHead();
        };
    try (var origin = ScriptedOrigin.open(asking, asks, asks)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_ALERT_RECEIVED);
      assertThat(failure.status()).isEqualTo(502);
    }
  }

  @Test
  void anAlertWithinTheHandshakeIsToldByItsName() throws Exception {
    Script alert =
        with -> {
          with.read(5);
          with.send("\u0015\u0003\u0003\u0000\u0002\u0002(");
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(alert, alert)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_ALERT_RECEIVED);
      assertThat(failure.reason()).contains("handshake_failure");
    }
  }

  @Test
  void aHandshakeThatIsCutOffIsNoTls() throws Exception {
    Script cut =
        with -> {
          with.read(5);
          with.close();
        };
    try (var origin = ScriptedOrigin.open(cut, cut)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(failure.reason()).contains("within the TLS handshake");
    }
  }

  @Test
  void anOriginInClearTextIsNoTls() throws Exception {
    Script clear =
        with -> {
          with.read(5);
          with.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(clear, clear)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_PROTOCOL_ERROR);
      assertThat(failure.reason()).endsWith("does not speak TLS");
    }
  }

  @Test
  void aResponseInClearTextBeforeTheHandshakeIsNone() throws Exception {
    Script early =
        with -> {
          with.send(OK);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(early, early)) {
      Failure failure = failure(tls(null), origin);
      assertThat(failure.kind()).isEqualTo(ErrorType.TLS_PROTOCOL_ERROR);
      assertThat(failure.status()).isEqualTo(502);
    }
  }

  @Test
  void anotherOriginIsAskedWhereOneHasNoGoodCertificate() throws Exception {
    var expired = Certificates.server(authority.expired("127.0.0.1"));
    try (var bad = ScriptedOrigin.open(expired, ANSWERS, ANSWERS);
        var origin = ScriptedOrigin.open(Certificates.server(good), ANSWERS, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, tls(null), bad, origin)) {
      for (int i = 0; i < 4; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(bad.heads()).isEmpty();
    }
  }

  // What ends a message

  @Test
  void contentUntilCloseEndsWithAWordOfTls() throws Exception {
    Script http10 =
        with -> {
          with.readHead();
          with.send("HTTP/1.0 200 OK\r\n\r\nabc");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(Certificates.server(good), http10);
        var fixture = new UpstreamFixture(SETTINGS, tls(null), origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.hasFailed()).isFalse();
      assertThat(reply.content()).isEqualTo("abc");
    }
  }

  @Test
  void contentUntilCloseIsIncompleteWithoutThatWord() throws Exception {
    Script truncated =
        with -> {
          with.readHead();
          with.send("HTTP/1.0 200 OK\r\n\r\nabc");
          with.cut();
        };
    try (var origin = ScriptedOrigin.open(Certificates.server(good), truncated);
        var fixture = new UpstreamFixture(SETTINGS, tls(null), origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_INCOMPLETE);
    }
  }

  @Test
  void anIdleConnectionThatTheOriginEndsIsNotUsedAgain() throws Exception {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Script once =
        with -> {
          with.readHead();
          with.send(OK);
          with.close();
          ended.complete(null);
        };
    try (var origin = ScriptedOrigin.open(Certificates.server(good), once, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, tls(null), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      await(ended);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }
}
