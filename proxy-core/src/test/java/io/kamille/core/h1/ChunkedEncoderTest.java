package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9112 §7.1, as it binds the one who writes. */
class ChunkedEncoderTest {

  private final EmbeddedChannel channel = new EmbeddedChannel();

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 10, 15, 16, 255, 256, 4_095, 4_096, 65_536, 1_000_000})
  void aChunkIsItsSizeItsOctetsAndCrLf(int length) {
    ChunkedEncoder.write(channel, Unpooled.buffer().writeZero(length));
    String wire = wire();
    assertThat(wire).startsWith(Integer.toHexString(length) + "\r\n\0").endsWith("\0\r\n");
    assertThat(wire).hasSize(length + Integer.toHexString(length).length() + 4);
  }

  @Test
  void anEmptyChunkIsNotWritten() {
    ByteBuf empty = Unpooled.directBuffer();
    ChunkedEncoder.write(channel, empty);
    assertThat(wire()).isEmpty();
    assertThat(empty.refCnt()).isZero();
  }

  @Test
  void theLastChunkHasNoTrailersOrSome() {
    ChunkedEncoder.end(channel, null);
    assertThat(wire()).isEqualTo("0\r\n\r\n");
    ChunkedEncoder.end(channel, new Fields());
    assertThat(wire()).isEqualTo("0\r\n\r\n");
    ChunkedEncoder.end(channel, Fields.of("A", "b", "C", ""));
    assertThat(wire()).isEqualTo("0\r\nA: b\r\nC: \r\n\r\n");
  }

  @Test
  void whatIsWrittenCanBeReadBack() {
    for (String chunk : new String[] {"a", "\r\n0\r\n\r\n", "x".repeat(20_000)}) {
      ChunkedEncoder.write(channel, Unpooled.copiedBuffer(chunk, StandardCharsets.ISO_8859_1));
    }
    ChunkedEncoder.end(channel, Fields.of("Digest", "d"));
    Cuts.Verdict verdict = Cuts.content(MessageFraming.CHUNKED, wire());
    assertThat(verdict.seen())
        .isEqualTo("a\r\n0\r\n\r\n" + "x".repeat(20_000) + "\n--\nDigest: d\n");
    assertThat(verdict.rest()).isEmpty();
  }

  private String wire() {
    channel.flush();
    StringBuilder text = new StringBuilder();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      text.append(out.toString(StandardCharsets.ISO_8859_1));
      out.release();
    }
    return text.toString();
  }
}
