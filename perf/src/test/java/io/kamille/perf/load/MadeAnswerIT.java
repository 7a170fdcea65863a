package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.OriginTarget.Trait;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the origin makes, read by what the client expects. */
@Timeout(60)
class MadeAnswerIT {

  private static final String BEFORE = "If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT\r\n";
  private static final String AFTER = "If-Modified-Since: Fri, 02 Jan 2026 00:00:00 GMT\r\n";

  private Responder origin = Responder.open();
  private SocketChannel socket;
  private final ResponseReader reader = new ResponseReader();
  private final StringBuilder head = new StringBuilder();

  MadeAnswerIT() throws IOException {
    this.socket = connect();
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), origin.port()));
  }

  @BeforeEach
  void begin() {
    head.setLength(0);
  }

  @AfterEach
  void close() throws IOException {
    socket.close();
    origin.close();
  }

  /** Asks and reads to the end of the response; whether it came whole. */
  private boolean ask(LoadRequest request) throws IOException {
    reader.expect(request);
    socket.write(request.octets(false));
    ByteBuffer in = ByteBuffer.allocateDirect(64 * 1024);
    while (true) {
      in.clear();
      if (socket.read(in) < 0) {
        return false;
      }
      in.flip();
      head.append(StandardCharsets.ISO_8859_1.decode(in.duplicate()));
      switch (reader.read(in)) {
        case MORE -> {}
        case COMPLETE -> {
          assertThat(in.hasRemaining()).isFalse();
          return true;
        }
        case BROKEN -> throw new AssertionError("malformed: " + head);
      }
    }
  }

  private @Nullable LoadFailure failure(LoadRequest request) throws IOException {
    return ask(request) ? reader.failure() : LoadFailure.CLOSED;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4500, 3_000_000})
  void theContentIsAsTheTargetSays(int length) throws Exception {
    assertThat(failure(LoadRequest.get("a", OriginTarget.of(17, length)))).isNull();
    assertThat(failure(LoadRequest.get("a", OriginTarget.of(18, length)))).isNull();
  }

  @Test
  void contentOfAnotherObjectIsWrong() throws Exception {
    var wrong = LoadRequest.get("a", OriginTarget.of(17, 100).text(), new byte[100]);
    assertThat(failure(wrong)).isEqualTo(LoadFailure.WRONG_CONTENT);
  }

  @Test
  void aHeadRequestIsAnsweredWithoutContentAndTheNextOneIsUnderstood() throws Exception {
    assertThat(failure(LoadRequest.head("a", OriginTarget.of(17, 4500)))).isNull();
    assertThat(failure(LoadRequest.get("a", OriginTarget.of(17, 10)))).isNull();
  }

  @Test
  void theContentOfAPostIsSkipped() throws Exception {
    assertThat(failure(LoadRequest.post("a", OriginTarget.of(17, 300), 5000))).isNull();
    assertThat(failure(LoadRequest.get("a", OriginTarget.of(17, 10)))).isNull();
  }

  @Test
  void ifModifiedSinceIsAnsweredByTheDateOfTheLastChange() throws Exception {
    OriginTarget target = OriginTarget.of(17, 4500);
    assertThat(failure(LoadRequest.get("a", target, BEFORE))).isNull();
    assertThat(failure(LoadRequest.getUnmodified("a", target, AFTER))).isNull();
    assertThat(head.toString()).contains("HTTP/1.1 304 ");
  }

  @Test
  void freshnessIsSaidByCacheControl() throws Exception {
    ask(LoadRequest.get("a", OriginTarget.of(17, 10).with(Trait.FRESH, 60)));
    assertThat(head.toString()).contains("Cache-Control: max-age=60\r\n");
    ask(LoadRequest.get("a", OriginTarget.of(17, 10).with(Trait.FRESH, 0)));
    assertThat(head.toString()).contains("Cache-Control: no-store\r\n");
  }

  @Test
  void thinkTimeAndDripDelayButDoNotChangeTheContent() throws Exception {
    OriginTarget target =
        OriginTarget.of(17, 50_000).with(Trait.THINK, 5).with(Trait.DRIP, 1_000_000);
    assertThat(failure(LoadRequest.get("a", target))).isNull();
  }

  @Test
  void theLastUseOfAConnectionIsSaidAndTrue() throws Exception {
    var request = LoadRequest.get("a", OriginTarget.of(17, 10).with(Trait.USES, 2));
    assertThat(failure(request)).isNull();
    assertThat(reader.isLast()).isFalse();
    assertThat(failure(request)).isNull();
    assertThat(reader.isLast()).isTrue();
    assertThat(socket.read(ByteBuffer.allocate(1))).isNegative();
  }
}
