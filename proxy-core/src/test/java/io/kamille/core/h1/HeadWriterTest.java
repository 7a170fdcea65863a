package io.kamille.core.h1;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadWriterTest {

  private final HeadWriter writer = new HeadWriter();

  @Test
  void aHeadIsLinesAndAnEmptyLine() {
    writer.status(404);
    writer.line(FieldName.CONTENT_LENGTH, 0);
    writer.line(FieldName.AGE, Long.MAX_VALUE);
    writer.line(FieldName.VIA, "1.1 kamille");
    writer.line(Fields.of("X", "\u00e4", "y", ""), 0);
    writer.line(Fields.of("X", "\u00e4", "y", ""), 1);
    writer.newLine();
    assertThat(writer.toString().split("\r\n", -1))
        .containsExactly(
            "HTTP/1.1 404 Not Found",
            "Content-Length: 0",
            "Age: 9223372036854775807",
            "Via: 1.1 kamille",
            "X: \u00e4",
            "y: ",
            "",
            "");
  }

  @ParameterizedTest
  @ValueSource(strings = {"X: y", "X:y", "X:  y", "X:\ty ", "X: y "})
  void aLineThatWasParsedIsWrittenInOneForm(String line) {
    var parser = new ResponseParser(HeadLimits.RESPONSE);
    ByteBuf head =
        Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\n" + line + "\r\nZ: \r\n\r\n", US_ASCII);
    assertThat(parser.parse(head)).isEqualTo(SectionParser.Outcome.COMPLETE);
    head.release();
    Fields fields = parser.head().fields();
    writer.begin();
    for (int i = 0; i < fields.size(); i++) {
      writer.line(fields, i);
    }
    assertThat(writer).hasToString("X: y\r\nZ: \r\n");
  }

  @Test
  void octetsOfABufferAreTakenFromItsBeginning() {
    ByteBuf source = Unpooled.copiedBuffer("content and more", US_ASCII);
    writer.begin();
    writer.octet('a');
    writer.octets(source, 7);
    assertThat(writer).hasToString("acontent");
    assertThat(source.toString(US_ASCII)).isEqualTo(" and more");
    source.release();
  }

  @Test
  void anUnknownStatusHasNoReasonButItsSpace() {
    writer.status(299);
    assertThat(writer).hasToString("HTTP/1.1 299 \r\n");
  }

  @Test
  void aNewHeadForgetsTheOneBefore() {
    writer.status(200);
    writer.text("x".repeat(200_000));
    ByteBuf large = writer.toBuffer(UnpooledByteBufAllocator.DEFAULT);
    assertThat(large.readableBytes()).isEqualTo(200_017);
    large.release();
    writer.begin();
    writer.octet('a');
    writer.decimal(10);
    writer.octets(new byte[] {'x', 'b', 'y'}, 1, 1);
    ByteBuf small = writer.toBuffer(UnpooledByteBufAllocator.DEFAULT);
    assertThat(small.toString(US_ASCII)).isEqualTo("a10b");
    assertThat(small.capacity()).isEqualTo(4);
    small.release();
  }
}
