package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kamille.core.setting.Sections;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.OpenSslServerSessionContext;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sessions with origins are resumed, but never under another trust. */
class OriginSessionTest {

  private final Certificates authority = new Certificates("authority");
  private final ServerTls server =
      ServerTls.open(
          Handshake.policy(ClientCertificates.NONE),
          List.of(authority.ecdsa("origin.test")),
          Runnable::run);

  OriginSessionTest() throws Exception {}

  @AfterEach
  void close() {
    server.close();
  }

  private static OriginTls trusting(Certificates authority) throws Exception {
    return OriginTls.open(
        OriginTlsSettings.DEFAULTS,
        new OriginTrust(List.of(authority.authority()), null),
        List.of("http/1.1"));
  }

  @Test
  void aSecondConnectionResumesTheSessionOfTheFirst() throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider counts no tickets");
    OriginTls client = trusting(authority);
    assertThat(resumes(client)).isFalse();
    assertThat(resumes(client)).isTrue();
    assertThat(resumes(trusting(authority))).as("another context").isFalse();
  }

  /** A server gives two tickets at each handshake. */
  @Test
  void ofMoreSessionsThanTheMostTheOldestAreForgotten() throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider counts no tickets");
    assertThat(resumed(4, 1, 2)).containsExactly(1, 2);
    assertThat(resumed(4, 1, 2, 3)).containsExactly(2, 3);
    assertThat(resumed(4, 1, 2, 3, 4, 5, 6, 7)).containsExactly(6, 7);
  }

  /** Which of the origins at these ports, asked one after another, still resume a session. */
  private List<Integer> resumed(int mostSessions, Integer... ports) throws Exception {
    List<Integer> resumed = new ArrayList<>();
    for (int port : List.of(ports).subList(Math.max(0, ports.length - 3), ports.length)) {
      OriginTls client =
          OriginTls.open(
              OriginTlsSettings.DEFAULTS,
              new OriginTrust(List.of(authority.authority()), null),
              List.of("http/1.1"),
              mostSessions);
      for (int other : ports) {
        assertThat(resumes(client, other)).isFalse();
      }
      if (resumes(client, port)) {
        resumed.add(port);
      }
    }
    return resumed;
  }

  @Test
  void whoTrustsAnotherAuthorityHasNoConnection() throws Exception {
    OriginTls other = trusting(new Certificates("other"));
    try (var handshake = handshake(other)) {
      assertThat(handshake.isDone()).isFalse();
      assertThat(HandshakeTrouble.of(handshake.clientTls.handshakeFuture().cause(), "origin.test"))
          .hasToString(
              "HandshakeTrouble[kind=TLS_CERTIFICATE_ERROR, reason=has a certificate of an unknown"
                  + " authority (tls.ca)]");
    }
  }

  @Test
  void theSystemHasAuthorities() throws Exception {
    assertThat(OriginTlsSettings.DEFAULTS.read().authorities()).hasSizeGreaterThan(10);
    assertThat(Sections.of(OriginTlsSettings.SECTION, "verify: off").read())
        .isEqualTo(new OriginTrust(List.of(), null));
  }

  private Handshake handshake(OriginTls client) {
    return handshake(client, 443);
  }

  private Handshake handshake(OriginTls client, int port) {
    return new Handshake(
        client.handler(ByteBufAllocator.DEFAULT, "origin.test", port, Duration.ofMinutes(1)),
        server,
        "origin.test");
  }

  /** Whether a handshake of this client is an abbreviated one. */
  private boolean resumes(OriginTls client) {
    return resumes(client, 443);
  }

  private boolean resumes(OriginTls client, int port) {
    var choosing = new EmbeddedChannel();
    ServerTls.Choice choice =
        server.choose("origin.test", choosing.eventLoop().newPromise()).getNow();
    var stats = ((OpenSslServerSessionContext) choice.context().sessionContext()).stats();
    long before = stats.ticketKeyResume() + stats.ticketKeyRenew();
    try (var handshake = handshake(client, port)) {
      assertThat(handshake.isDone()).isTrue();
      handshake.server.writeOutbound(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII));
      handshake.talk();
      ReferenceCountUtil.release(handshake.client.readInbound());
    }
    long after = stats.ticketKeyResume() + stats.ticketKeyRenew();
    choice.release();
    choosing.finishAndReleaseAll();
    return after > before;
  }
}
