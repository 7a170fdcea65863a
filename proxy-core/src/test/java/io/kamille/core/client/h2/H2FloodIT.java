package io.kamille.core.client.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.LoopConnections;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Floods that HTTP/2 is known for: each ends the connection it comes by, or is bounded, and costs
 * the stations next to nothing.
 */
class H2FloodIT {

  private static final int PROTOCOL_ERROR = 1;
  private static final int CANCEL = 8;
  private static final int COMPRESSION_ERROR = 9;
  private static final int CALM = 11;
  private static final int INITIAL_WINDOW = 4;

  /** More than any budget. */
  private static final int MANY = 3_000;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.H2);
  private final Queue<Exchange> begun = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    server.close();
  }

  private TestH2Client client(int... settings) {
    return TestH2Client.connect(server.address(), settings);
  }

  /** Sends the same thing many times, and expects to be asked for calm. */
  private void endsCalmly(Consumer<TestH2Client> act) {
    try (TestH2Client client = client()) {
      for (int i = 0; i < MANY; i++) {
        act.accept(client);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertOthersAreServed();
  }

  private void assertOthersAreServed() {
    try (TestH2Client other = client()) {
      assertThat(other.get(1, "/other").answer(1).status()).isEqualTo(200);
    }
  }

  @Test
  void rapidResetReachesNobody() {
    // CVE-2023-44487: requests that are reset in the burst they come in.
    server.on("/slow", begun::add);
    try (TestH2Client client = client()) {
      for (int i = 0; i < MANY; i++) {
        client.get(1 + 2 * i, "/slow").reset(1 + 2 * i);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertThat(begun).hasSizeLessThan(8);
    assertOthersAreServed();
  }

  @Test
  void rapidResetOfRequestsUnderWayEndsSoon() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client()) {
      for (int i = 0; i < 200; i++) {
        client.get(1 + 2 * i, "/slow").settleIfOpen();
        client.reset(1 + 2 * i);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertThat(begun).hasSizeLessThanOrEqualTo(128);
  }

  @Test
  void streamsThatWeHaveToResetCountMore() {
    // CVE-2025-8671: the client has us reset its streams.
    server.on("/slow", begun::add);
    try (TestH2Client client = client()) {
      for (int i = 0; i < 300; i++) {
        client.get(1 + 2 * i, "/slow").settleIfOpen();
        client.window(1 + 2 * i, Integer.MAX_VALUE);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertThat(begun).hasSizeLessThan(60);
  }

  @Test
  void sectionsOnAStreamThatWeHaveResetAreAFlood() {
    try (TestH2Client client = client()) {
      byte[] malformed = TestH2Client.section(":method", "GET");
      for (int i = 0; i < MANY; i++) {
        client.frame(TestH2Client.HEADERS, TestH2Client.END_HEADERS, 1, malformed);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertOthersAreServed();
  }

  @Test
  void continuationsAreFewAndShort() {
    // CVE-2024-27316.
    try (TestH2Client client = client()) {
      client.frame(TestH2Client.HEADERS, 0, 1, TestH2Client.section(":method", "GET"));
      for (int i = 0; i < MANY; i++) {
        client.frame(TestH2Client.CONTINUATION, 0, 1, TestH2Client.section("a", "b"));
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertOthersAreServed();
  }

  @Test
  void aSectionMayComeInManyParts() {
    byte[] section =
        TestH2Client.section(
            ":method",
            "GET",
            ":scheme",
            "http",
            ":authority",
            "h",
            ":path",
            "/in-parts",
            "a",
            "x".repeat(2048));
    try (TestH2Client client = client()) {
      client.frame(TestH2Client.HEADERS, TestH2Client.END_STREAM, 1, Arrays.copyOf(section, 100));
      for (int at = 100; at < section.length; at += 100) {
        int end = Math.min(at + 100, section.length);
        int flags = end == section.length ? TestH2Client.END_HEADERS : 0;
        client.frame(TestH2Client.CONTINUATION, flags, 1, Arrays.copyOfRange(section, at, end));
      }
      assertThat(client.answer(1).content()).isEqualTo("/in-parts");
    }
  }

  @Test
  void emptyContinuationsAreFew() {
    try (TestH2Client client = client()) {
      client.frame(TestH2Client.HEADERS, 0, 1, TestH2Client.section(":method", "GET"));
      for (int i = 0; i < MANY; i++) {
        client.frame(TestH2Client.CONTINUATION, 0, 1);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertOthersAreServed();
  }

  @Test
  void aHeadThatNeverEndsHasItsTime() {
    try (TestH2Client client = client().get(1, "/one")) {
      client.answer(1);
      client.frame(TestH2Client.HEADERS, 0, 3, TestH2Client.section(":method", "GET")).flush();
      Await.until(() -> unfinishedHeadBytes() > 0, "the head has begun");
      server.pass(Duration.ofSeconds(9));
      assertThat(server.connections()).isEqualTo(1);
      server.pass(Duration.ofSeconds(2));
      client.awaitEnd();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {TestH2Client.HEADERS, TestH2Client.DATA, 0xbb})
  void aFrameThatNeverEndsHasItsTimeAndCounts(int type) {
    // Its header says how much room to take for it: ten octets are as good as ten thousand.
    byte[] begun = {0, 0x40, 0, (byte) type, 0, 0, 0, 0, 3, 'x'};
    try (TestH2Client client = client().get(1, "/one")) {
      client.answer(1);
      client.raw(begun).flush();
      Await.until(() -> unfinishedHeadBytes() >= 16_384, "the frame has begun");
      server.pass(Duration.ofSeconds(9));
      assertThat(server.connections()).isEqualTo(1);
      server.pass(Duration.ofSeconds(2));
      client.awaitEnd();
    }
    assertThat(unfinishedHeadBytes()).isZero();
  }

  @Test
  void contentOfAnOpenStreamIsNoUnfinishedHead() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client().request(1, "POST", "/slow", false)) {
      client.settle();
      client.raw(new byte[] {0, 0x40, 0, 0, 0}).flush();
      Await.until(() -> unfinishedHeadBytes() > 0, "nobody knows what it is");
      client.raw(new byte[] {0, 0, 0, 1, 'x'}).flush();
      Await.until(() -> unfinishedHeadBytes() == 0, "it is content");
    }
  }

  @Test
  void contentOfAStreamThatHasEndedHasItsTimeAndCounts() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client().request(1, "GET", "/slow", true)) {
      client.settle();
      client.raw(new byte[] {0, 0x40, 0, 0, 0}).flush();
      Await.until(() -> unfinishedHeadBytes() > 0, "nobody knows what it is");
      client.raw(new byte[] {0, 0, 0, 1, 'x'}).flush();
      Await.until(() -> unfinishedHeadBytes() == 0, "it is content");
      Exchange exchange = begun.remove();
      server.loops().getFirst().loop().execute(() -> TestServer.stored(exchange, "early"));
      assertThat(client.answer(1).content()).isEqualTo("early");
      Await.until(() -> unfinishedHeadBytes() >= 16_384, "nobody wants it");
      server.sweep();
      server.pass(Duration.ofSeconds(9));
      assertThat(server.connections()).isEqualTo(1);
      server.pass(Duration.ofSeconds(2));
      client.awaitEnd();
    }
    assertThat(unfinishedHeadBytes()).isZero();
  }

  @Test
  void unfinishedHeadsOfAllConnectionsHaveRoomInCommon() {
    try (TestServer small = TestServer.withRoomForHeads(3_000, Protocols.H2)) {
      byte[] part = TestH2Client.section(":method", "GET", "a", "x".repeat(900));
      List<TestH2Client> clients =
          IntStream.range(0, 5)
              .mapToObj(
                  i ->
                      TestH2Client.connect(small.address())
                          .frame(TestH2Client.HEADERS, 0, 1, part)
                          .flush())
              .toList();
      LoopConnections connections = small.loops().getFirst().connections();
      Await.until(() -> connections.displacedHeads() == 2, "two yield");
      small.settle();
      assertThat(connections.unfinishedHeadBytes()).isBetween(2_000L, 3_000L);
      clients.forEach(TestH2Client::close);
    }
  }

  private long unfinishedHeadBytes() {
    return server.loops().getFirst().connections().unfinishedHeadBytes();
  }

  @Test
  void aSmallSectionThatDecodesToALargeOneIsAnsweredAndStoredNowhere() {
    // The HPACK bomb: an entry of the table, by one octet each time.
    server.on("/bomb", begun::add);
    byte[] field = TestH2Client.section("x", "y".repeat(2_000));
    field[0] = 0x40; // with incremental indexing
    byte[] pseudo =
        TestH2Client.section(
            ":method", "GET", ":scheme", "http", ":path", "/bomb", ":authority", "a");
    byte[] bomb = new byte[pseudo.length + field.length + 10];
    System.arraycopy(pseudo, 0, bomb, 0, pseudo.length);
    System.arraycopy(field, 0, bomb, pseudo.length, field.length);
    Arrays.fill(bomb, pseudo.length + field.length, bomb.length, (byte) 0xbe);
    int flags = TestH2Client.END_HEADERS | TestH2Client.END_STREAM;
    try (TestH2Client client = client()) {
      client.frame(TestH2Client.HEADERS, flags, 1, bomb);
      assertThat(client.get(3, "/fine").answer(3).status()).isEqualTo(200);
    }
    assertThat(begun).isEmpty();
  }

  /** Kamille joins cookies and compares hosts at the end of a section, but counts each line. */
  @ParameterizedTest
  @ValueSource(strings = {"600161", "6000", "660161"})
  void linesThatAreJoinedOrComparedLaterCount(String field) {
    server.on("/bomb", begun::add);
    byte[] pseudo =
        TestH2Client.section(
            ":method", "GET", ":scheme", "http", ":path", "/bomb", ":authority", "a");
    for (int times : new int[] {40, MANY}) {
      ByteBuf bomb = Unpooled.buffer().writeBytes(pseudo);
      bomb.writeBytes(HexFormat.of().parseHex(field));
      for (int i = 0; i < times; i++) {
        bomb.writeByte(0xbe); // the newest entry of the table
      }
      int flags = TestH2Client.END_HEADERS | TestH2Client.END_STREAM;
      try (TestH2Client client = client(INITIAL_WINDOW, 0)) {
        client.frame(TestH2Client.HEADERS, flags, 1, ByteBufUtil.getBytes(bomb));
        assertThat(client.get(3, "/fine").head(3).status()).isEqualTo(200);
        if (client.passed(TestH2Client.RST_STREAM, 1) == 0) {
          assertThat(client.head(1).status()).isEqualTo(431);
        }
      }
    }
    assertThat(begun).isEmpty();
  }

  @Test
  void aClientThatWantsNoFieldsIsAnswered() {
    int maxHeaderListSize = 6;
    try (TestH2Client client = client(maxHeaderListSize, 1)) {
      for (int stream = 1; stream < 400; stream += 2) {
        assertThat(client.get(stream, "/fine").answer(stream).status()).isEqualTo(200);
      }
    }
  }

  @Test
  void anIntegerThatOverflowsEndsTheConnection() {
    byte[] index = HexFormat.of().parseHex("ffffffffffffffffff7f");
    try (TestH2Client client = client()) {
      client.frame(TestH2Client.HEADERS, TestH2Client.END_HEADERS, 1, index);
      assertThat(client.goAwayCode()).isEqualTo(COMPRESSION_ERROR);
    }
    assertOthersAreServed();
  }

  @Test
  void tooManyFieldsAreAnswered() {
    String[] fields = new String[60];
    Arrays.fill(fields, "a");
    try (TestH2Client client = client().get(1, "/", fields)) {
      assertThat(client.answer(1).status()).isEqualTo(431);
    }
  }

  @Test
  void pings() {
    endsCalmly(TestH2Client::ping);
  }

  @Test
  void settings() {
    endsCalmly(client -> client.settings(INITIAL_WINDOW, 1));
  }

  @Test
  void settingsOfManyEntries() {
    int[] many = new int[200];
    for (int i = 0; i < many.length; i += 2) {
      many[i] = 0x100 + i;
    }
    try (TestH2Client client = client(many)) {
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
  }

  @Test
  void priorities() {
    endsCalmly(client -> client.frame(TestH2Client.PRIORITY, 0, 3, new byte[5]));
  }

  @Test
  void priorityUpdates() {
    endsCalmly(
        client -> client.frame(TestH2Client.PRIORITY_UPDATE, 0, 0, new byte[] {0, 0, 0, 3, 'i'}));
  }

  @Test
  void unknownFrames() {
    endsCalmly(client -> client.frame(0xbb, 0, 0, new byte[8]));
  }

  @Test
  void windowUpdatesOfOneOctet() {
    endsCalmly(client -> client.window(0, 1));
  }

  @Test
  void emptyFrames() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client().request(1, "POST", "/slow", false)) {
      for (int i = 0; i < MANY; i++) {
        client.data(1, "", false);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
  }

  @Test
  void paddingAloneIsNoProgressForever() {
    server.on("/slow", begun::add);
    byte[] padding = new byte[101];
    padding[0] = 100;
    try (TestH2Client client = client().request(1, "POST", "/slow", false)) {
      for (int i = 0; i < MANY; i++) {
        client.frame(TestH2Client.DATA, TestH2Client.PADDED, 1, padding);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
  }

  @Test
  void contentBeyondTheWindowIsAFault() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client().request(1, "POST", "/slow", false)) {
      for (int i = 0; i < 5; i++) {
        client.data(1, "x".repeat(16_000), false);
      }
      assertThat(client.resetCode(1)).isEqualTo(3);
    }
  }

  @Test
  void aWindowOfZeroHoldsALimitedAmountForALimitedTime() {
    // CVE-2019-9517: many answers that the client does not take.
    server.on("/large", exchange -> TestServer.stored(exchange, "x".repeat(30_000)));
    try (TestH2Client client = client(INITIAL_WINDOW, 0)) {
      for (int i = 0; i < 140; i++) {
        client.get(1 + 2 * i, "/large");
      }
      client.settle();
      assertThat(client.passed(TestH2Client.RST_STREAM, 279)).isEqualTo(1);
      server.sweep();
      server.pass(Duration.ofSeconds(31));
      assertThat(client.resetCode(1)).isEqualTo(CANCEL);
    }
  }

  @Test
  void aWindowThatOpensOctetByOctetIsTooSlow() {
    // CVE-2019-9511.
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1, Protocols.H2)) {
      strict.on("/large", exchange -> TestServer.stored(exchange, "x".repeat(30_000)));
      TestH2Client client = TestH2Client.connect(strict.address(), INITIAL_WINDOW, 1);
      client.get(1, "/large").settle();
      strict.sweep();
      for (int i = 0; i < 31; i++) {
        client.window(1, 1).settle();
        strict.pass(Duration.ofSeconds(1));
      }
      assertThat(client.resetCode(1)).isEqualTo(CANCEL);
      client.close();
    }
  }

  @Test
  void contentThatTricklesIsTooSlow() {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1, Protocols.H2)) {
      strict.on("/take", exchange -> exchange.content().start(new Swallowing(exchange)));
      TestH2Client client = TestH2Client.connect(strict.address());
      client.request(1, "POST", "/take", false).settle();
      for (int i = 0; i < 21; i++) {
        client.data(1, "x", false).settle();
        strict.pass(Duration.ofSeconds(1));
      }
      assertThat(client.answer(1).status()).isEqualTo(408);
      client.close();
    }
  }

  @Test
  void aPrefaceThatNeverEndsHasItsTime() {
    try (TestH2Client client = client()) {
      Await.until(() -> server.connections() == 1, "it is connected");
      server.settle();
      server.settle();
      server.pass(Duration.ofSeconds(11));
      client.awaitEnd();
    }
  }

  @Test
  void moreStreamsThanAllowedInOneBurstAreAFlood() {
    server.on("/slow", begun::add);
    try (TestH2Client client = client()) {
      for (int i = 0; i < MANY; i++) {
        client.get(1 + 2 * i, "/slow");
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    assertThat(begun).hasSizeLessThanOrEqualTo(128);
  }

  @Test
  void whoReadsNothingIsNotReadFromEither() throws InterruptedException {
    // Answers to HEAD have no content, so that no window holds them back: only the socket does.
    server.on(
        "/head",
        exchange -> {
          exchange.reply().head(ResponseHead.of(200, "A", "x".repeat(3_000)), 0);
          exchange.reply().end(null);
        });
    int bursts = 300;
    try (TestH2Client client = client()) {
      Thread sender = Thread.ofPlatform().daemon().start(() -> sendHeads(client, bursts));
      sender.join(Duration.ofSeconds(5));
      assertThat(server.ended()).hasSizeLessThan(100 * bursts);
    }
  }

  private void sendHeads(TestH2Client client, int bursts) {
    for (int i = 0; i < 100 * bursts; i++) {
      client.request(1 + 2 * i, "HEAD", "/head", true);
      if (i % 100 == 99) {
        client.flush();
        for (int turn = 0; turn < 20; turn++) {
          server.settle();
        }
      }
    }
  }

  @Test
  void aClientThatSpeaksAnotherProtocolIsToldSo() {
    try (TestH2Client client = client().raw(new byte[300])) {
      assertThat(client.goAwayCode()).isIn(PROTOCOL_ERROR, 6);
    }
  }
}
