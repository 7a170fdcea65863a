package io.kamille.core.tls;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What authorities may ask, and how it is told that one asks (RFC 8737). */
class ChallengesTest {

  private final Challenges challenges = new Challenges();

  @AfterEach
  void nothingIsAskedAnyMore() throws IOException {
    challenges.replace(Map.of(), Map.of());
  }

  private static byte[] hello(boolean isNative, String... protocols) throws Exception {
    assumeTrue(!isNative || ServerContext.isNative(), "BoringSSL does not load here");
    return isNative
        ? ClientHellos.ofBoringSsl("a.test", protocols)
        : ClientHellos.ofJdk("a.test", protocols);
  }

  private static boolean areAskedBy(byte[] hello) {
    return areAskedBy(hello, 0, hello.length);
  }

  /** In the middle of a buffer: what is beside the ClientHello says nothing. */
  private static boolean areAskedBy(byte[] octets, int from, int to) {
    ByteBuf all = Unpooled.wrappedBuffer(octets);
    return Challenges.areAskedBy(Challenges.offered(all.setIndex(from, to)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyTheirProtocolAloneIsAQuestionOfAnAuthority(boolean isNative) throws Exception {
    assertThat(areAskedBy(hello(isNative, "acme-tls/1"))).isTrue();
    assertThat(areAskedBy(hello(isNative))).isFalse();
    for (String other : List.of("h2", "http/1.1", "acme-tls/2", "ACME-TLS/1", "acme-tls/1x")) {
      assertThat(areAskedBy(hello(isNative, other))).as(other).isFalse();
      assertThat(areAskedBy(hello(isNative, other, "acme-tls/1"))).as(other).isFalse();
      assertThat(areAskedBy(hello(isNative, "acme-tls/1", other))).as(other).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientHelloThatIsCutShortAsksNothing(boolean isNative) throws Exception {
    for (String[] protocols : new String[][] {{"acme-tls/1"}, {"h2", "acme-tls/1"}, {}}) {
      byte[] hello = hello(isNative, protocols);
      int whole =
          protocols.length == 1
              ? new String(hello, US_ASCII).indexOf("acme-tls/1") + 10
              : hello.length + 1;
      byte[] amidst = new byte[hello.length + 200];
      System.arraycopy(hello, 0, amidst, 100, hello.length);
      for (int length = 0; length <= hello.length; length++) {
        assertThat(areAskedBy(hello, 0, length)).as("%d octets", length).isEqualTo(length >= whole);
        assertThat(areAskedBy(amidst, 100, 100 + length)).isEqualTo(length >= whole);
      }
    }
  }

  @Test
  void garbageAsksNothing() throws Exception {
    long seed = new Random().nextLong();
    var random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] garbage = new byte[random.nextInt(400)];
      random.nextBytes(garbage);
      assertThat(areAskedBy(garbage)).as("seed %d, number %d", seed, i).isFalse();
    }
    byte[] ordinary = hello(false, "h2", "http/1.1");
    for (int at = 0; at < ordinary.length; at++) {
      for (int value = 0; value < 256; value += 5) {
        byte[] changed = ordinary.clone();
        changed[at] = (byte) value;
        assertThat(areAskedBy(changed)).as("%d at %d", value, at).isFalse();
      }
    }
  }

  private static ServerCertificate proving(String name) {
    return SelfSigned.proving(Instant.now(), name, new byte[32]);
  }

  private ServerTls.Choice chosen(String name) {
    return requireNonNull(challenges.choose(name), name);
  }

  @Test
  void ofReplacedNamesThoseThatStayKeepTheirContextAndTheOthersAreLetGo() throws Exception {
    ServerCertificate stays = proving("stays.test");
    challenges.replace(Map.of(), Map.of("stays.test", stays, "goes.test", proving("goes.test")));
    ServerTls.Choice kept = chosen("stays.test");
    ServerTls.Choice gone = chosen("goes.test");
    challenges.replace(Map.of(), Map.of("stays.test", stays, "new.test", proving("new.test")));
    ServerTls.Choice again = chosen("stays.test");
    assertThat(again.context()).isSameAs(kept.context());
    again.release();
    assertThat(challenges.choose("goes.test")).isNull();
    ServerTls.Choice added = chosen("new.test");
    added.release();
    challenges.replace(Map.of(), Map.of("new.test", proving("new.test")));
    ServerTls.Choice renewed = chosen("new.test");
    assertThat(renewed.context()).isNotSameAs(added.context());
    renewed.release();
    kept.release();
    gone.release();
    challenges.replace(Map.of(), Map.of());
    if (ServerContext.isNative()) {
      assertThat(List.of(kept, gone, added, renewed))
          .allSatisfy(each -> assertThat(ReferenceCountUtil.refCnt(each.context())).isZero());
    }
  }

  @Test
  void whatNobodyAwaitsIsNotThere() throws Exception {
    assertThat(challenges.areAskedByHttp()).isFalse();
    assertThat(challenges.choose("a.test")).isNull();
    challenges.replace(Map.of("token", "token.print"), Map.of("a.test", proving("a.test")));
    assertThat(challenges.areAskedByHttp()).isTrue();
    assertThat(challenges.answer("token")).isEqualTo("token.print");
    for (String other : List.of("", "toke", "token.", "Token", "token.print")) {
      assertThat(challenges.answer(other)).as(other).isNull();
    }
    assertThat(challenges.choose(null)).isNull();
    assertThat(challenges.choose("b.a.test")).isNull();
    assertThat(challenges.choose("test")).isNull();
    challenges.replace(Map.of(), Map.of());
    assertThat(challenges.areAskedByHttp()).isFalse();
    assertThat(challenges.answer("token")).isNull();
    assertThat(challenges.choose("a.test")).isNull();
  }
}
