package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kamille.core.tls.ClientCertificates.Demand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.OpenSslServerSessionContext;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handshakes in memory against the certificates of one listener. */
class ServerTlsTest {

  private Certificates authority;
  private ServerCertificate first;
  private ServerTls tls;

  @BeforeEach
  void open() throws GeneralSecurityException, IOException {
    authority = new Certificates("test authority");
    first = authority.ecdsa("first.test", "*.first.test");
    tls = listen(ClientCertificates.NONE, first, authority.ecdsa("second.test"));
  }

  @AfterEach
  void close() {
    tls.close();
  }

  private static ServerTls listen(ClientCertificates clients, ServerCertificate... certificates)
      throws IOException {
    return ServerTls.open(Handshake.policy(clients), List.of(certificates), Runnable::run);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void theServerNameChoosesTheCertificate(String version) throws Exception {
    SslContext client = Handshake.client(version, "h2");
    assertThat(shownTo(client, "second.test")).contains("second.test");
    assertThat(shownTo(client, "any.first.test")).contains("*.first.test");
    assertThat(shownTo(client, "unknown.test")).contains("first.test");
    ReferenceCountUtil.release(client);
  }

  private String shownTo(SslContext client, String name) throws Exception {
    try (var handshake = new Handshake(client, tls, name)) {
      assertThat(handshake.isDone()).isTrue();
      assertThat(handshake.serverTls.applicationProtocol()).isEqualTo("h2");
      return String.valueOf(handshake.shown().getSubjectAlternativeNames());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void ofTwoKeysForOneNameTheClientsSuiteChooses(String version) throws Exception {
    tls.close();
    tls = listen(ClientCertificates.NONE, authority.rsa("both.test"), authority.ecdsa("both.test"));
    SslContext ecdsa = Handshake.client(version);
    try (var handshake = new Handshake(ecdsa, tls, "both.test")) {
      assertThat(handshake.isDone()).isTrue();
    }
    ReferenceCountUtil.release(ecdsa);
    if (version.equals("TLSv1.2")) {
      SslContext rsa =
          Handshake.client()
              .protocols(version)
              .ciphers(List.of("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"))
              .build();
      try (var handshake = new Handshake(rsa, tls, "both.test")) {
        assertThat(handshake.shown().getPublicKey().getAlgorithm()).isEqualTo("RSA");
      }
      ReferenceCountUtil.release(rsa);
    }
  }

  @Test
  void weakSuitesAndOldVersionsAreNotOffered() throws Exception {
    SslContext weak =
        Handshake.client()
            .protocols("TLSv1.2")
            .ciphers(List.of("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"))
            .build();
    try (var handshake = new Handshake(weak, tls, "first.test")) {
      assertThat(handshake.isDone()).isFalse();
    }
    ReferenceCountUtil.release(weak);
  }

  @Test
  void anExchangeOfCertificatesKeepsConnectionsAndFreesTheOldContext() throws Exception {
    SslContext client = Handshake.client("TLSv1.3");
    ServerTls.Choice before = choice("first.test");
    before.release();
    try (var handshake = new Handshake(client, tls, "first.test")) {
      assertThat(tls.update(Handshake.policy(ClientCertificates.NONE), List.of(first)))
          .as("first stays, second goes")
          .isTrue();
      ServerCertificate renewed = authority.ecdsa("first.test");
      assertThat(tls.update(Handshake.policy(ClientCertificates.NONE), List.of(renewed))).isTrue();
      handshake.client.writeOutbound(
          Unpooled.copiedBuffer("still here", StandardCharsets.US_ASCII));
      handshake.talk();
      ByteBuf read = handshake.server.readInbound();
      assertThat(read.toString(StandardCharsets.US_ASCII)).isEqualTo("still here");
      read.release();
      try (var another = new Handshake(client, tls, "first.test")) {
        assertThat(another.shown()).isEqualTo(renewed.chain().getFirst());
      }
    }
    if (ServerContext.isNative()) {
      assertThat(ReferenceCountUtil.refCnt(before.context())).isZero();
    }
    ReferenceCountUtil.release(client);
  }

  /** Or it goes by the key before, if they rotate in between. */
  @Test
  void aContextTakesTheTicketKeysOnceNoRotationPassesIt() throws Exception {
    var context = new ServerContext(List.of(first), Handshake.policy(ClientCertificates.NONE));
    AtomicBoolean isGuarded = new AtomicBoolean();
    context.build(
        () -> {
          isGuarded.set(Thread.holdsLock(context));
          return TicketKeys.fresh(new SecureRandom());
        });
    context.retire();
    assertThat(isGuarded).isTrue();
  }

  @Test
  void anExchangeForTheSameChangesNothing() throws Exception {
    assertThat(tls.update(Handshake.policy(ClientCertificates.NONE), tls.certificates())).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void ticketsResumeAcrossARotationButNotForEver(String version) throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider has no ticket keys of ours");
    SslContext client = Handshake.resuming(version);
    assertThat(resumes(client, tls)).isFalse();
    tls.rotateTicketKeys();
    assertThat(resumes(client, tls)).isTrue();
    for (int i = 0; i < 3; i++) {
      tls.rotateTicketKeys();
    }
    assertThat(resumes(client, tls)).isFalse();
    ReferenceCountUtil.release(client);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void anotherProcessTakesTheTicketsOfThisOne(String version) throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider has no ticket keys of ours");
    SslContext client = Handshake.resuming(version);
    assertThat(resumes(client, tls)).isFalse();
    try (ServerTls next = listen(ClientCertificates.NONE, first)) {
      next.takeTickets(tls.ticketKeys());
      assertThat(resumes(client, next)).isTrue();
    }
    ReferenceCountUtil.release(client);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void machinesWithOneSecretTakeTheTicketsOfOneAnother(String version) throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider has no ticket keys of ours");
    SslContext client = Handshake.resuming(version);
    Instant now = Instant.parse("2026-11-28T12:00:00Z");
    AtomicReference<Instant> clock = new AtomicReference<>(now);
    tls.shareTickets(ServerTlsTest::ofOneSecret, clock::get);
    assertThat(resumes(client, tls)).isFalse();
    for (int hours : new int[] {-1, 0, 1}) { // 12:00 is where a period begins.
      try (ServerTls other = listen(ClientCertificates.NONE, first)) {
        other.shareTickets(
            ServerTlsTest::ofOneSecret, InstantSource.fixed(now.plus(Duration.ofHours(hours))));
        assertThat(resumes(client, other)).as("%d h", hours).isTrue();
        assertThat(resumes(client, tls)).as("what it has made").isTrue();
      }
    }
    clock.set(now.plus(Duration.ofDays(1)));
    tls.rotateTicketKeys();
    assertThat(resumes(client, tls)).as("two periods later").isFalse();
    try (ServerTls other = listen(ClientCertificates.NONE, first)) {
      other.shareTickets((purpose, octets) -> ofOneSecret("other " + purpose, octets), clock::get);
      assertThat(resumes(client, other)).as("of another secret").isFalse();
    }
    assertThat(resumes(client, tls)).isFalse();
    tls.update(
        Handshake.policy(new ClientCertificates(Demand.OPTIONAL, List.of(authority.authority()))),
        List.of(first));
    assertThat(resumes(client, tls)).as("of another policy").isFalse();
    ReferenceCountUtil.release(client);
  }

  private static byte[] ofOneSecret(String purpose, int octets) {
    try {
      byte[] name = purpose.getBytes(StandardCharsets.US_ASCII);
      return Arrays.copyOf(MessageDigest.getInstance("SHA-512").digest(name), octets);
    } catch (GeneralSecurityException missing) {
      throw new AssertionError(missing);
    }
  }

  @Test
  void keysThatAreNotUnderstoodAreRefusedAndThoseOfAnotherPolicyLeftOut() {
    String before = tls.ticketKeys();
    for (String words : List.of("", " ", "00", before + "00", before.replaceFirst(".$", "g"))) {
      assertThatThrownBy(() -> tls.takeTickets(words)).isInstanceOf(IllegalArgumentException.class);
    }
    tls.takeTickets("00" + before);
    assertThat(tls.ticketKeys()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void noTicketCarriesOverIntoAnotherClientCertificatePolicy(String version) throws Exception {
    assumeTrue(ServerContext.isNative(), "the JDK's provider has no ticket keys of ours");
    ClientCertificates required =
        new ClientCertificates(Demand.REQUIRED, List.of(authority.authority()));
    SslContext client = Handshake.resuming(version);
    assertThat(resumes(client, tls)).isFalse();
    assertThat(resumes(client, tls)).isTrue();
    tls.update(Handshake.policy(required), List.of(first));
    try (var handshake = new Handshake(client, tls, "first.test")) {
      assertThat(handshake.isDone()).as("it has no certificate").isFalse();
    }
    SslContext known = Handshake.client(authority.ecdsa("client.test"));
    try (var handshake = new Handshake(known, tls, "first.test")) {
      assertThat(handshake.isDone()).isTrue();
      assertThat(handshake.serverTls.engine().getSession().getPeerPrincipal().getName())
          .isEqualTo("CN=client.test");
    }
    ReferenceCountUtil.release(client);
    ReferenceCountUtil.release(known);
  }

  @Test
  void aClientWhoseCertificateIsRefusedIsToldSo() throws Exception {
    ClientCertificates optional =
        new ClientCertificates(Demand.OPTIONAL, List.of(authority.authority()));
    // Signed by one of the same name, or the client would not show it.
    ServerCertificate forged = new Certificates("test authority").ecdsa("client.test");
    SslContext client =
        Handshake.client().protocols("TLSv1.2").keyManager(forged.key(), forged.chain()).build();
    tls.update(Handshake.policy(optional), List.of(first));
    try (var handshake = new Handshake(client, tls, "first.test")) {
      assertThat(handshake.clientTls.handshakeFuture().cause())
          .hasMessageContaining(ServerContext.isNative() ? "BAD_CERTIFICATE" : "certificate");
    }
    ReferenceCountUtil.release(client);
  }

  /** Whether a second handshake of this client is an abbreviated one. */
  private static boolean resumes(SslContext client, ServerTls tls) {
    var choosing = new EmbeddedChannel();
    ServerTls.Choice choice = tls.choose("first.test", choosing.eventLoop().newPromise()).getNow();
    var stats = ((OpenSslServerSessionContext) choice.context().sessionContext()).stats();
    long before = stats.ticketKeyResume() + stats.ticketKeyRenew();
    try (var handshake = new Handshake(client, tls, "first.test")) {
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

  @Test
  void ofManyNamesAContextIsBuiltByTheFirstHandshake() throws Exception {
    tls.close();
    Queue<Runnable> workers = new ArrayDeque<>();
    ServerCertificate[] many = new ServerCertificate[80];
    for (int i = 0; i < many.length; i++) {
      many[i] = authority.ecdsa("n" + i + ".test");
    }
    tls = ServerTls.open(Handshake.policy(ClientCertificates.NONE), List.of(many), workers::add);
    var channel = new EmbeddedChannel();
    var promise = tls.choose("n70.test", channel.eventLoop().<ServerTls.Choice>newPromise());
    assertThat(promise.isDone()).isFalse();
    workers.remove().run();
    assertThat(promise.getNow().server().covers("n70.test")).isTrue();
    promise.getNow().release();
    channel.finishAndReleaseAll();
  }

  @Test
  void aRequestForANameOfAnotherCertificateIsMisdirected() {
    ServerTls.Choice choice = choice("first.test");
    assertThat(tls.isMisdirected(choice.server(), "second.test")).isTrue();
    assertThat(tls.isMisdirected(choice.server(), "any.first.test")).isFalse();
    assertThat(tls.isMisdirected(choice.server(), "127.0.0.1")).isFalse();
    choice.release();
  }

  private ServerTls.Choice choice(String name) {
    var channel = new EmbeddedChannel();
    ServerTls.Choice choice = tls.choose(name, channel.eventLoop().newPromise()).getNow();
    channel.finishAndReleaseAll();
    return choice;
  }
}
