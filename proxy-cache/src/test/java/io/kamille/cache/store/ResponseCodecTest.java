package io.kamille.cache.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ResponseCodecTest {

  private static final String URI = "http://example.org/a?b";

  private final ByteBuf out = Unpooled.buffer();

  private ResponseHead roundTrip(ResponseHead head) {
    EncodedHead encoded = ResponseCodec.encode(URI, head, out);
    byte[] octets = ByteBufUtil.getBytes(out);
    assertThat(encoded.length()).isEqualTo(octets.length);
    return ResponseCodec.decode(
        encoded.status(), Arrays.copyOfRange(octets, encoded.uriLength(), octets.length));
  }

  @Test
  void theUriTheLinesAndTheEmptyLineLieOneAfterAnother() {
    EncodedHead encoded = ResponseCodec.encode(URI, ResponseHead.of(200, "A", "1", "B", "2"), out);
    assertThat(out.toString(StandardCharsets.ISO_8859_1)).isEqualTo(URI + "A: 1\r\nB: 2\r\n\r\n");
    assertThat(encoded).isEqualTo(new EncodedHead(200, URI.length(), out.readableBytes(), null));
  }

  @Test
  void whatIsWrittenIsReadBack() {
    ResponseHead head =
        ResponseHead.of(404, "ETag", "\"a: b\"", "X-Empty", "", "Set-Cookie", "a", "x", "\u00fc");
    ResponseHead read = roundTrip(head);
    assertThat(read.status()).isEqualTo(404);
    assertThat(read.fields().toString()).isEqualTo(head.fields().toString());
  }

  @Test
  void aHeadWithoutFieldsIsAnEmptyLine() {
    assertThat(roundTrip(ResponseHead.of(200)).fields().size()).isZero();
  }

  @Test
  void cacheStatusIsKeptApart() {
    ResponseHead head = ResponseHead.of(200, "Cache-Status", "a; hit", "Cache-Status", "b; hit");
    EncodedHead encoded = ResponseCodec.encode(URI, head, out);
    assertThat(encoded.cacheStatus()).isEqualTo("a; hit, b; hit");
    assertThat(out.toString(StandardCharsets.ISO_8859_1)).isEqualTo(URI + "\r\n");
  }
}
