package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.PaceSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponderIT {

  private final HttpClient client = HttpClient.newHttpClient();

  @ParameterizedTest
  @ValueSource(ints = {1024, 16384, 1048576})
  void floorAndOriginGiveTheSameContent(int size) throws Exception {
    try (var floor = Responder.open(0, true, PaceSettings.OFF, true);
        var origin = Responder.open()) {
      byte[] expected = FixedContent.octets(size);
      assertThat(get(floor, "/hit/" + size).body()).isEqualTo(expected);
      assertThat(get(origin, "/hit/" + size).body()).isEqualTo(expected);
    }
  }

  @Test
  void thePathSaysWhetherTheResponseMayBeStored() throws Exception {
    try (var origin = Responder.open()) {
      assertThat(get(origin, "/hit/10").headers().firstValue("Cache-Control"))
          .hasValue("max-age=3600");
      assertThat(get(origin, "/hit/10?new=7").headers().firstValue("Cache-Control"))
          .hasValue("max-age=3600");
      assertThat(get(origin, "/pass/10").headers().firstValue("Cache-Control"))
          .hasValue("no-store");
    }
  }

  @Test
  void everyResponseHasANumberOfItsOwnAndIsCounted() throws Exception {
    try (var origin = Responder.open()) {
      assertThat(get(origin, "/hit/10").headers().firstValue("X-Serial")).hasValue("1");
      assertThat(get(origin, "/hit/10").headers().firstValue("X-Serial")).hasValue("2");
      assertThat(new String(get(origin, "/requests").body(), StandardCharsets.US_ASCII))
          .isEqualTo("2");
    }
  }

  @Test
  void requestsAreFoundHoweverTheyAreCut() throws Exception {
    try (var floor = Responder.open(0, true, PaceSettings.OFF, true);
        var socket = new Socket(InetAddress.getLoopbackAddress(), floor.port())) {
      socket.setTcpNoDelay(true);
      byte[] two =
          "GET /hit/1024 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2).getBytes(StandardCharsets.US_ASCII);
      for (byte octet : two) {
        socket.getOutputStream().write(octet);
      }
      InputStream in = socket.getInputStream();
      assertContent(in);
      assertContent(in);
    }
  }

  private static void assertContent(InputStream in) throws IOException {
    for (int crlf = 0; crlf < 4; ) {
      crlf = in.read() == "\r\n\r\n".charAt(crlf) ? crlf + 1 : 0;
    }
    assertThat(in.readNBytes(1024)).isEqualTo(FixedContent.octets(1024));
  }

  private HttpResponse<byte[]> get(Responder server, String path) throws Exception {
    var uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return client.send(
        HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofByteArray());
  }
}
