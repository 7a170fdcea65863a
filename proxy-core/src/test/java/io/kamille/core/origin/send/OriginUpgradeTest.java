package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTlsSettings;
import io.kamille.core.tls.OriginTrust;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upgrades to origins that ALPN may settle on HTTP/2 with: they take HTTP/1.1 (RFC 9113 §8.6). */
class OriginUpgradeTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;
  private static final UpstreamSettings TWO_PROTOCOLS = twoProtocols();

  private final Certificates authority = new Certificates("authority");
  private final SSLContext secure = Certificates.server(authority.ecdsa("127.0.0.1"));

  OriginUpgradeTest() throws GeneralSecurityException, IOException {}

  private static UpstreamSettings twoProtocols() {
    return Sections.copy(SETTINGS)
        .with("forwarding.upgrades", List.of("websocket", "other"))
        .record();
  }

  private OriginTls tls() throws IOException {
    var settings = OriginTlsSettings.DEFAULTS;
    return OriginTls.open(
        settings,
        new OriginTrust(List.of(authority.authority()), null),
        SETTINGS.protocol().offered());
  }

  private static void answersByH2(Conversation with) throws IOException {
    with.speaks("h2");
    if (!with.protocol().equals("h2")) {
      throw new IOException("no h2");
    }
    H2Conversation h2 = new H2Conversation(with);
    while (true) {
      h2.answer(h2.request(), "by h2");
    }
  }

  private static RequestHead upgrade() {
    return RequestHead.of(
        "GET", "http://example.org/chat", "Connection", "upgrade", "Upgrade", "websocket");
  }

  @Test
  void anUpgradeTakesAConnectionOfItsOwn() throws Exception {
    CompletableFuture<String> chosen = new CompletableFuture<>();
    Script switches =
        with -> {
          with.speaks("h2", "http/1.1");
          chosen.complete(with.protocol());
          with.readHead();
          with.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nhi");
          with.send(with.read(5));
          with.readToEnd();
          with.close();
        };
    try (var origin = ScriptedOrigin.open(secure, OriginUpgradeTest::answersByH2, switches);
        var fixture = new UpstreamFixture(SETTINGS, tls(), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("by h2");
      var content = new ScriptedContent(fixture.loop(), 0);
      RecordingReply reply = fixture.send(upgrade(), content);
      await(reply.begun());
      assertThat(await(chosen)).isEqualTo("http/1.1");
      assertThat(reply.head().status()).isEqualTo(101);
      assertThat(fixture.get("/").content()).isEqualTo("by h2");
      content.write("hello");
      content.finish("");
      await(reply.ended());
      assertThat(reply.content()).isEqualTo("hihello");
      assertThat(origin.heads().getFirst()).contains("Upgrade: websocket\r\n");
      assertThat(origin.connections()).isEqualTo(2);
      fixture.onLoop(() -> null);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "other", "websocket, other"})
  void anOriginThatSwitchesToAnotherProtocolIsABadGateway(String protocol) throws Exception {
    Script switches =
        with -> {
          with.speaks("http/1.1");
          with.readHead();
          with.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + protocol + "\r\n\r\n");
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(secure, switches);
        var fixture = new UpstreamFixture(TWO_PROTOCOLS, tls(), origin)) {
      RecordingReply reply = fixture.send(upgrade(), new ScriptedContent(fixture.loop(), 0));
      assertThat(await(reply.ended()).failure().reason())
          .endsWith("switched to a protocol nobody asked for");
    }
  }

  @Test
  void aConnectionIsUsedAgainAfterAnUpgradeThatWasDeclined() throws Exception {
    Script declines =
        with -> {
          with.speaks("http/1.1");
          while (true) {
            with.readHead();
            with.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
          }
        };
    try (var origin = ScriptedOrigin.open(secure, declines);
        var fixture = new UpstreamFixture(SETTINGS, tls(), origin)) {
      for (int i = 0; i < 2; i++) {
        RecordingReply reply =
            await(fixture.send(upgrade(), new ScriptedContent(fixture.loop(), 0)).ended());
        fixture.onLoop(() -> null);
        assertThat(reply.content()).isEqualTo("no");
      }
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  /** Otherwise a client could put an origin out by what it asks for. */
  @Test
  void anOriginWithoutHttp11IsNotJudgedByUpgrades() throws Exception {
    Script[] scripts = new Script[12];
    Arrays.fill(scripts, (Script) OriginUpgradeTest::answersByH2);
    try (var origin = ScriptedOrigin.open(secure, scripts);
        var fixture = new UpstreamFixture(SETTINGS, tls(), origin)) {
      for (int i = 0; i < 10; i++) {
        RecordingReply reply =
            await(fixture.send(upgrade(), new ScriptedContent(fixture.loop(), 0)).ended());
        assertThat(reply.failure().kind()).isEqualTo(ErrorType.TLS_ALERT_RECEIVED);
        assertThat(reply.failure().status()).isEqualTo(502);
      }
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isZero();
      assertThat(fixture.get("/").content()).isEqualTo("by h2");
    }
  }

  @Test
  void whatTheRouteDoesNotAllowIsNoUpgrade() throws Exception {
    try (var origin = ScriptedOrigin.open(secure, OriginUpgradeTest::answersByH2);
        var fixture = new UpstreamFixture(SETTINGS, tls(), origin)) {
      RequestHead other =
          RequestHead.of("GET", "http://example.org/", "Connection", "upgrade", "Upgrade", "foo");
      RecordingReply reply =
          await(fixture.send(other, new ScriptedContent(fixture.loop(), 0)).ended());
      assertThat(reply.content()).isEqualTo("by h2");
    }
  }
}
