package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.ResponseReader.Progress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseReaderTest {

  private static final String RIGHT =
      "HTTP/1.1 200 OK\r\nServer: Content-Length: 7\r\nCONTENT-length: 5\r\n\r\nhello";

  private final ResponseReader reader = new ResponseReader();

  private static ByteBuffer octets(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private Progress read(String text) {
    return reader.read(octets(text));
  }

  @BeforeEach
  void expectHello() {
    reader.expect(LoadRequest.get("a", "/", "hello".getBytes(StandardCharsets.US_ASCII)));
  }

  @Test
  void theRightResponseIsRightHoweverItIsCut() {
    for (int cut = 1; cut < RIGHT.length(); cut++) {
      expectHello();
      assertThat(read(RIGHT.substring(0, cut))).isEqualTo(Progress.MORE);
      assertThat(read(RIGHT.substring(cut))).isEqualTo(Progress.COMPLETE);
      assertThat(reader.failure()).isNull();
      assertThat(reader.isLast()).isFalse();
    }
  }

  @Test
  void theNextResponseIsJudgedByItself() {
    read("HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assertThat(reader.isLast()).isTrue();
    expectHello();
    assertThat(read(RIGHT)).isEqualTo(Progress.COMPLETE);
    assertThat(reader.failure()).isNull();
    assertThat(reader.isLast()).isFalse();
  }

  @Test
  void whatFollowsTheContentIsLeft() {
    ByteBuffer octets = octets(RIGHT + "xyz");
    assertThat(reader.read(octets)).isEqualTo(Progress.COMPLETE);
    assertThat(octets.remaining()).isEqualTo(3);
  }

  @Test
  void oneWrongOctetIsFoundHoweverTheContentIsCut() {
    for (int cut = 1; cut <= 5; cut++) {
      expectHello();
      read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
      read("helLo".substring(0, cut));
      read("helLo".substring(cut));
      assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_CONTENT);
    }
  }

  @Test
  void aWrongResponseIsReadToItsEnd() {
    assertThat(read("HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nmissing"))
        .isEqualTo(Progress.COMPLETE);
    assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_STATUS);
    expectHello();
    assertThat(read("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello")).isEqualTo(Progress.MORE);
    assertThat(read("!")).isEqualTo(Progress.COMPLETE);
    assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_LENGTH);
    expectHello();
    assertThat(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"))
        .isEqualTo(Progress.COMPLETE);
    assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_STATUS);
  }

  @Test
  void aPreconditionMayBeLeftOutButNoOctetOfTheContent() {
    OriginTarget target = OriginTarget.of(17, 5);
    reader.expect(LoadRequest.getUnmodified("a", target, ""));
    read("HTTP/1.1 304 Not Modified\r\n\r\n");
    assertThat(reader.failure()).isNull();
    reader.expect(LoadRequest.getUnmodified("a", target, ""));
    read("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n1234");
    assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_LENGTH);
    reader.expect(LoadRequest.getUnmodified("a", target, ""));
    read("HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\n12345");
    assertThat(reader.failure()).isEqualTo(LoadFailure.WRONG_STATUS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 20\r\n",
        "HTTP/1.1 100 Continue\r\n",
        "ICY 200 OK\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: five\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
      })
  void whatIsNotFramedAsWeReadItIsMalformed(String head) {
    assertThat(read(head + "\r\n")).isEqualTo(Progress.BROKEN);
    assertThat(reader.failure()).isEqualTo(LoadFailure.MALFORMED);
  }

  @Test
  void aHeadWithoutEndIsMalformed() {
    read("HTTP/1.1 200 OK\r\n");
    assertThat(read("a: b\r\n".repeat(20_000))).isEqualTo(Progress.BROKEN);
  }

  @Test
  void theSourceIsWhatCacheStatusSays() {
    String begin = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nCache-Status: kamille; ";
    read(begin + "hit; ttl=9\r\n\r\nhello");
    assertThat(reader.source()).isEqualTo(AnswerSource.MEMORY);
    expectHello();
    read(begin + "hit; ttl=9; detail=disk\r\n\r\nhello");
    assertThat(reader.source()).isEqualTo(AnswerSource.DISK);
    expectHello();
    read(begin + "fwd=uri-miss; stored\r\n\r\nhello");
    assertThat(reader.source()).isEqualTo(AnswerSource.ORIGIN);
    expectHello();
    read(RIGHT);
    assertThat(reader.source()).isEqualTo(AnswerSource.ORIGIN);
  }
}
