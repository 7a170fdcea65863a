package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.client.open.Protocols;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which time-out holds for a connection of a client follows from what is done on it. */
class ConnectionLifeIT {

  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final byte[] GET =
      TestH2Client.section(
          ":method", "GET", ":scheme", "http", ":authority", "test.test", ":path", "/hit");

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);

  @AfterEach
  void close() {
    server.close();
  }

  private void pass(long seconds) {
    server.settle();
    for (long i = 0; i < seconds; i++) {
      server.pass(Duration.ofSeconds(1));
    }
  }

  /** Each is answered within the burst that brings it: no sweep ever sees it. */
  @Test
  void aConnectionOfHitsIsInUse() {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      for (int i = 0; i < 150; i++) {
        assertThat(client.get(2 * i + 1, "/hit").answer(2 * i + 1).status()).isEqualTo(200);
        pass(1);
      }
    }
    TestClient client = server.connect();
    for (int i = 0; i < 150; i++) {
      assertThat(client.get("/hit").answer().status()).isEqualTo(200);
      pass(1);
    }
  }

  @Test
  void aConnectionEndsWhenItsIdleTimeHasPassedSinceItsLastHit() {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.get(1, "/hit").answer(1);
      pass(59);
      client.get(3, "/hit").answer(3);
      pass(59);
      assertThat(server.connections()).isEqualTo(1);
      pass(1);
      assertThat(client.goAwayCode()).isZero();
    }
  }

  /** Of a client that has asked nothing, the first request is awaited; frames are no request. */
  @Test
  void controlFramesKeepNoConnection() {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      for (int i = 0; i < 9; i++) {
        client.ping().settle();
        pass(1);
      }
      assertThat(server.connections()).isEqualTo(1);
      pass(1);
      client.awaitEnd();
    }
  }

  /** Such as never end, each begun with the last one's end. */
  @Test
  void unfinishedControlFramesKeepNoConnection() {
    byte[] ping = {0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.raw(ping[0]).flush();
      for (int i = 0; i < 110 && server.connections() > 0; i++) {
        byte[] rest = new byte[ping.length];
        System.arraycopy(ping, 1, rest, 0, ping.length - 1);
        client.raw(rest).flush();
        pass(1);
      }
      assertThat(server.connections()).isZero();
    }
  }

  /** A proxy in front fills its socket: reads end anywhere. */
  @Test
  void aFrameThatBeginsInTheReadThatEndsAnotherHasATimeOfItsOwn() {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      byte[] half = new byte[5];
      System.arraycopy(GET, 0, half, 0, half.length);
      byte[] rest = new byte[GET.length - half.length];
      System.arraycopy(GET, half.length, rest, 0, rest.length);
      client.raw(headers(1)).raw(half).flush();
      for (int i = 1; i < 40; i += 2) {
        pass(1);
        client.raw(rest).raw(headers(i + 2)).raw(half).flush();
        assertThat(client.answer(i).status()).isEqualTo(200);
      }
      pass(10);
      client.awaitEnd();
    }
  }

  private static byte[] headers(int stream) {
    int flags = END_STREAM | END_HEADERS;
    return new byte[] {0, 0, (byte) GET.length, 1, (byte) flags, 0, 0, 0, (byte) stream};
  }

  @Test
  void aHeaderSectionHasOneTimeHoweverManyFrames() {
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.frame(TestH2Client.HEADERS, 0, 1, GET).flush();
      for (int i = 0; i < 9; i++) {
        pass(1);
        client.frame(TestH2Client.CONTINUATION, 0, 1, new byte[0]).flush();
      }
      assertThat(server.connections()).isEqualTo(1);
      pass(1);
      client.awaitEnd();
    }
  }

  /** RFC 9112 §2.2: some clients send one behind the content of a POST. */
  @Test
  void anEmptyLineBehindContentBeginsNoRequest() {
    TestClient whole = server.connect().request("POST", "/a", "Content-Length: 2").send("ab\r\n");
    TestClient cut = server.connect().request("POST", "/a", "Content-Length: 2").send("ab\r");
    assertThat(whole.answer().status()).isEqualTo(200);
    assertThat(cut.answer().status()).isEqualTo(200);
    server.settle();
    whole.send("\r\n");
    pass(11);
    assertThat(server.connections()).as("nothing is late").isEqualTo(2);
    assertThat(whole.get("/b").answer().content()).isEqualTo("/b");
    assertThat(cut.get("/b").answer().content()).isEqualTo("/b");
    whole.send("\r\n");
    pass(61);
    assertThat(whole.isAtEnd()).as("no word before the end").isTrue();
  }
}
