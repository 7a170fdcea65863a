package io.kamille.core.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sections as Netty's decoder reads them, and as RFC 7541 draws them. */
class HpackWriterTest {

  private final HpackWriter writer = new HpackWriter();

  private String octets() {
    ByteBuf out = Unpooled.buffer();
    writer.copyTo(out, 0, writer.length());
    return ByteBufUtil.hexDump(out);
  }

  private List<String> decoded() throws Http2Exception {
    ByteBuf out = Unpooled.buffer();
    writer.copyTo(out, 0, writer.length());
    List<String> lines = new ArrayList<>();
    new DefaultHttp2HeadersDecoder(false, false, 1 << 20)
        .decodeHeaders(1, out)
        .forEach(field -> lines.add(field.getKey() + ": " + field.getValue()));
    return lines;
  }

  @Test
  void theFirstSectionGivesTheTableUp() {
    writer.begin(true);
    writer.status(200);
    assertThat(octets()).isEqualTo("2088");
    writer.begin(false);
    writer.status(200);
    assertThat(octets()).isEqualTo("88");
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 200, 204, 206, 304, 400, 404, 418, 500, 599, 999})
  void everyStatusIsRead(int status) throws Http2Exception {
    writer.begin(true);
    writer.status(status);
    assertThat(decoded()).containsExactly(":status: " + status);
  }

  /** Each name of the static table (RFC 7541, Appendix A) is the one that it stands for. */
  @ParameterizedTest
  @EnumSource
  void everyKnownNameIsReadOrConcernsAConnection(FieldName name) throws Http2Exception {
    writer.begin(true);
    writer.line(Fields.of(name.text(), "v"), 0);
    boolean isOfConnection =
        switch (name) {
          case CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TRANSFER_ENCODING, UPGRADE -> true;
          default -> name == FieldName.HTTP2_SETTINGS;
        };
    String text = name.text().toLowerCase(Locale.ROOT);
    List<String> expected = isOfConnection ? List.of() : List.of(text + ": v");
    assertThat(decoded()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 126, 127, 128, 254, 255, 16_383, 16_511, 70_000})
  void lengthsOfAnySizeAreRead(int length) throws Http2Exception {
    writer.begin(true);
    writer.line(Fields.of("X-Long", "v".repeat(length)), 0);
    assertThat(decoded()).containsExactly("x-long: " + "v".repeat(length));
  }

  @Test
  void linesOfAStoredResponseEndAtTheEmptyOne() throws Http2Exception {
    byte[] lines = "ETag: \"a\"\r\nX-Any:  b\r\n\r\nno line".getBytes(StandardCharsets.US_ASCII);
    writer.begin(true);
    writer.lines(lines, 0, lines.length);
    assertThat(decoded()).containsExactly("etag: \"a\"", "x-any: b");
  }

  /** RFC 7541 §6.2.3, §7.1.3. */
  @ParameterizedTest
  @ValueSource(strings = {"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie"})
  void whatLetsSomebodyInIsNeverIndexed(String name) throws Http2Exception {
    writer.begin(false);
    writer.line(Fields.of(name, "secret"), 0);
    assertThat(octets()).startsWith("1f");
    assertThat(decoded()).containsExactly(name.toLowerCase(Locale.ROOT) + ": secret");
    writer.begin(false);
    writer.line(Fields.of("Server", "known"), 0);
    assertThat(octets()).startsWith("0f");
  }

  /** A client may have sent it as one that nobody may index (RFC 7541 §6.2.3). */
  @Test
  void whatTheStaticTableDoesNotNameIsNeverIndexed() throws Http2Exception {
    writer.begin(false);
    writer.line(Fields.of("X-Api-Key", "secret"), 0);
    assertThat(octets()).startsWith("1009");
    assertThat(decoded()).containsExactly("x-api-key: secret");
  }

  /** The same. */
  @Test
  void noFieldOfARequestIsIndexed() throws Http2Exception {
    writer.begin(false);
    writer.method("GET");
    writer.line(Fields.of("Referer", "http://a/secret"), 0);
    assertThat(octets()).startsWith("821f24");
    assertThat(decoded()).containsExactly(":method: GET", "referer: http://a/secret");
    writer.begin(false);
    writer.line(Fields.of("Server", "known"), 0);
    assertThat(octets()).as("a response after it").startsWith("0f");
  }
}
