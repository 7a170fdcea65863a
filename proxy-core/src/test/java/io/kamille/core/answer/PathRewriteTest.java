package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No origin, however it reads a path, is led out of the new prefix. */
class PathRewriteTest {

  private static final String REFUSED = "refused";
  private static final String PIECES = "/.%2356eFC;\\a";
  private static final EventLoop LOOP = new EmbeddedChannel().eventLoop();
  private static final InetSocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  @Test
  void whatIsNoEscapeMakesNone() {
    assertThat(rewritten("/api/%%32e%%32e/admin")).isEqualTo("/v2/%252e%252e/admin");
    assertThat(rewritten("/api/%2%65%2%65/admin")).isEqualTo("/v2/%252e%252e/admin");
    assertThat(rewritten("/api/%%35Cx")).isEqualTo("/v2/%255Cx");
    assertThat(rewritten("/api/100%")).isEqualTo("/v2/100%25");
  }

  @Test
  void escapesThatMatterStayAsTheyCame() {
    assertThat(rewritten("/api/a%2fb%20c%25%e2%82%ac%5Cd"))
        .isEqualTo("/v2/a%2fb%20c%25%e2%82%ac%5Cd");
    assertThat(rewritten("/api/a\\b;c=d")).isEqualTo("/v2/a\\b;c=d");
  }

  @Test
  void dotsBetweenWhatMayBeSlashesAreRefused() {
    for (String path :
        List.of(
            "/api/..%2fadmin",
            "/api/%2e%2e%2Fadmin",
            "/api/x%2F..",
            "/api/..%%32Fadmin",
            "/api/..%5cadmin",
            "/api/x\\..\\..\\admin",
            "/api/x\\..;a\\..;\\admin")) {
      assertThat(rewritten(path)).as(path).isEqualTo(REFUSED);
    }
    assertThat(rewritten("/api/..a%2Fb..%2F.../c")).isEqualTo("/v2/..a%2Fb..%2F.../c");
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void nothingLeadsOut(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder path = new StringBuilder("/api/");
      for (int length = random.nextInt(16); length > 0; length--) {
        path.append(PIECES.charAt(random.nextInt(PIECES.length())));
      }
      if (isRouted(path.toString())) {
        String rewritten = rewritten(path.toString());
        assertThat(rewritten.equals(REFUSED) || staysIn(rewritten))
            .as("%s became %s", path, rewritten)
            .isTrue();
      }
    }
  }

  private static boolean isRouted(String path) {
    byte[] octets = path.getBytes(StandardCharsets.ISO_8859_1);
    String normal =
        new String(NormalPath.of(octets, 0, octets.length), StandardCharsets.ISO_8859_1);
    return normal.equals("/api") || normal.startsWith("/api/");
  }

  /** As an origin reads it that drops parameters, decodes, and takes backslashes for slashes. */
  private static boolean staysIn(String path) {
    int depth = 0;
    for (String segment : decoded(withoutParameters(path)).split("[/\\\\]", 0)) {
      if (segment.equals("..")) {
        depth--;
        if (depth == 0) {
          return false;
        }
      } else if (!segment.isEmpty() && !segment.equals(".")) {
        depth++;
      }
    }
    return path.startsWith("/v2");
  }

  private static String withoutParameters(String path) {
    return path.replaceAll(";[^/\\\\]*", "");
  }

  private static String decoded(String path) {
    StringBuilder decoded = new StringBuilder();
    for (int i = 0; i < path.length(); i++) {
      if (path.substring(i).matches("(?s)%[0-9a-fA-F]{2}.*")) {
        decoded.append((char) Integer.parseInt(path.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        decoded.append(path.charAt(i));
      }
    }
    return decoded.toString();
  }

  /** What the origin gets for that path of a route /api whose prefix becomes /v2. */
  private static String rewritten(String path) {
    RecordingReply reply = new RecordingReply();
    List<String> got = new ArrayList<>();
    Exchange exchange =
        new Exchange(
            LOOP,
            ADDRESS,
            ADDRESS,
            RequestHead.of("GET", "http://h" + path),
            RequestContent.NONE,
            reply);
    new RuledHandler(
            behind -> got.add(behind.request().path()),
            HeaderRules.NONE,
            HeaderRules.NONE,
            false,
            "/api",
            "/v2",
            ErrorPages.NONE)
        .handle(exchange);
    if (got.isEmpty()) {
      assertThat(reply.failure().status()).isEqualTo(StatusCode.BAD_REQUEST);
      return REFUSED;
    }
    return got.getFirst();
  }
}
