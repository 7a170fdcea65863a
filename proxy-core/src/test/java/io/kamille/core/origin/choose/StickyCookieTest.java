package io.kamille.core.origin.choose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.StickySettings;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StickyCookieTest {

  private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 40000);

  @TempDir private Path directory = Path.of("");

  /** Never runs: no reply is sent. */
  private final EventLoop loop = new DefaultEventLoop();

  @AfterEach
  void close() {
    loop.shutdownGracefully();
  }

  /** RFC 9111 §4.3.4, §4.3.5: a cache would take the cookie for one of what it has stored. */
  @Test
  void whatUpdatesAStoredResponseSetsNoCookie() throws Exception {
    assertThat(setsCookie("GET", 200)).isTrue();
    assertThat(setsCookie("POST", 404)).isTrue();
    assertThat(setsCookie("GET", 304)).isFalse();
    assertThat(setsCookie("HEAD", 200)).isFalse();
  }

  private boolean setsCookie(String method, int status) throws Exception {
    ResponseHead head = ResponseHead.of(status);
    RequestHead request = RequestHead.of(method, "http://example.org/");
    var exchange =
        new Exchange(loop, ADDRESS, ADDRESS, request, RequestContent.NONE, new RecordingReply());
    cookie().reply(exchange, () -> 0).head(head, 0);
    return head.fields().has(FieldName.SET_COOKIE);
  }

  private StickyCookie cookie() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "sixteen octets and more");
    Origin origin = UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "127.0.0.1", 9000), 1);
    var settings = Sections.of(StickySettings.SECTION, "{cookie: at, secret-file: %s}", secret);
    return Objects.requireNonNull(StickyCookie.of(settings, null, List.of(origin)));
  }

  @ParameterizedTest
  @CsvSource({"0, false", "15, false", "16, true", "4096, true", "4097, false", "1048576, false"})
  void aSecretHasBounds(int bytes, boolean isTaken, @TempDir Path directory) throws IOException {
    Path file = Files.write(directory.resolve("secret"), new byte[bytes]);
    if (isTaken) {
      assertThat(StickySettings.read(file)).hasSize(bytes);
    } else {
      assertThatThrownBy(() -> StickySettings.read(file))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(bytes < 16 ? "less than 16 bytes" : "more than 4KiB");
      StickySettings settings =
          Sections.of(StickySettings.SECTION, "{cookie: at, secret-file: %s}", file);
      assertThatThrownBy(() -> StickyCookie.of(settings, null, List.of()))
          .hasMessageStartingWith(file + ": ");
    }
  }
}
