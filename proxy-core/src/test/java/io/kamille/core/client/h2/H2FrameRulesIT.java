package io.kamille.core.client.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.open.Protocols;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What frames may come when, beside what h2spec asks for (RFC 9113 §5, §6; RFC 9218 §2, §7). */
class H2FrameRulesIT {

  private static final int PROTOCOL_ERROR = 1;
  private static final int FLOW_CONTROL_ERROR = 3;
  private static final int FRAME_SIZE_ERROR = 6;
  private static final int INITIAL_WINDOW = 4;
  private static final int NO_OLD_PRIORITIES = 9;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.H2);

  @AfterEach
  void close() {
    server.close();
  }

  private int endsBy(UnaryOperator<TestH2Client> act, int... settings) {
    try (TestH2Client client = TestH2Client.connect(server.address(), settings)) {
      return act.apply(client).goAwayCode();
    }
  }

  @Test
  void aStreamThatWasNeverOpenIsNotReset() {
    // RFC 9113 §6.4: a faulty PRIORITY is a fault of its stream, but there is none yet.
    byte[] ofItself = {0, 0, 0, 3, 0};
    assertThat(endsBy(client -> client.frame(TestH2Client.PRIORITY, 0, 3, ofItself)))
        .isEqualTo(PROTOCOL_ERROR);
    assertThat(endsBy(client -> client.frame(TestH2Client.PRIORITY, 0, 3, new byte[4])))
        .isEqualTo(FRAME_SIZE_ERROR);
  }

  @Test
  void aStreamThatIsOpenIsReset() {
    server.on("/slow", exchange -> {});
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.get(1, "/slow").frame(TestH2Client.PRIORITY, 0, 1, new byte[] {0, 0, 0, 1, 0});
      assertThat(client.resetCode(1)).isEqualTo(PROTOCOL_ERROR);
      assertThat(client.get(3, "/fine").answer(3).status()).isEqualTo(200);
    }
  }

  @Test
  void contentMayComeLateOnAStreamThatWeReset() {
    server.on("/slow", exchange -> {});
    try (TestH2Client client = TestH2Client.connect(server.address())) {
      client.request(1, "POST", "/slow", false);
      client.frame(TestH2Client.PRIORITY, 0, 1, new byte[] {0, 0, 0, 1, 0});
      assertThat(client.resetCode(1)).isEqualTo(PROTOCOL_ERROR);
      for (int i = 1; i <= 300; i++) {
        assertThat(client.get(1 + 2 * i, "/fine").answer(1 + 2 * i).status()).isEqualTo(200);
      }
      client.data(1, "late", false);
      assertThat(client.get(901, "/fine").answer(901).status()).isEqualTo(200);
    }
  }

  @Test
  void whetherOldPrioritiesCountIsSaidOnce() {
    // RFC 9218 §2.1.
    UnaryOperator<TestH2Client> nothing = client -> client;
    assertThat(endsBy(nothing, NO_OLD_PRIORITIES, 2)).isEqualTo(PROTOCOL_ERROR);
    assertThat(endsBy(client -> client.settings(NO_OLD_PRIORITIES, 1))).isEqualTo(PROTOCOL_ERROR);
    assertThat(endsBy(client -> client.settings(NO_OLD_PRIORITIES, 0), NO_OLD_PRIORITIES, 1))
        .isEqualTo(PROTOCOL_ERROR);
    try (TestH2Client client = TestH2Client.connect(server.address(), NO_OLD_PRIORITIES, 1)) {
      client.settings(NO_OLD_PRIORITIES, 1).settings();
      assertThat(client.get(1, "/fine").answer(1).status()).isEqualTo(200);
    }
  }

  @Test
  void aPriorityUpdateNamesAStreamOfTheClient() {
    // RFC 9218 §7.1.
    int type = TestH2Client.PRIORITY_UPDATE;
    assertThat(endsBy(client -> client.frame(type, 0, 0, new byte[3]))).isEqualTo(FRAME_SIZE_ERROR);
    assertThat(endsBy(client -> client.frame(type, 0, 0, new byte[4]))).isEqualTo(PROTOCOL_ERROR);
    assertThat(endsBy(client -> client.frame(type, 0, 0, new byte[] {0, 0, 0, 2})))
        .isEqualTo(PROTOCOL_ERROR);
    assertThat(endsBy(client -> client.frame(type, 0, 1, new byte[] {0, 0, 0, 1})))
        .isEqualTo(PROTOCOL_ERROR);
  }

  @Test
  void aWindowGrowsUpToTheGreatestNumberAndNoFurther() {
    // RFC 9113 §6.5.2, §6.9.1, §6.9.2: too large a window ends its stream or its connection.
    int max = Integer.MAX_VALUE;
    int atFirst = 65_535;
    server.on("/slow", exchange -> {});
    for (int beyond : new int[] {1, max}) {
      assertThat(endsBy(client -> client.window(0, max - atFirst).window(0, beyond)))
          .isEqualTo(FLOW_CONTROL_ERROR);
      assertThat(endsBy(client -> client, INITIAL_WINDOW, max + beyond))
          .isEqualTo(FLOW_CONTROL_ERROR);
      try (TestH2Client client = TestH2Client.connect(server.address())) {
        client.window(0, max - atFirst).get(1, "/slow").window(1, max - atFirst).get(3, "/fine");
        assertThat(client.answer(3).status()).isEqualTo(200);
        client.window(1, beyond);
        assertThat(client.resetCode(1)).isEqualTo(FLOW_CONTROL_ERROR);
        assertThat(client.get(5, "/fine").answer(5).status()).isEqualTo(200);
      }
    }
    assertThat(
            endsBy(
                client ->
                    client.get(1, "/slow").window(1, max - atFirst).settings(INITIAL_WINDOW, max)))
        .isEqualTo(FLOW_CONTROL_ERROR);
    try (TestH2Client client = TestH2Client.connect(server.address(), INITIAL_WINDOW, max)) {
      assertThat(client.get(1, "/fine").answer(1).status()).isEqualTo(200);
    }
  }
}
