package io.kamille.perf.peer;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The control plane of a Kamille on the loopback address, as the calling thread's network has it.
 *
 * @param directory that its file {@code token} is in
 * @param limit for an answer
 */
public record ControlPlane(int port, Path directory, Duration limit) {

  /** What a path answers to a GET. */
  public String get(String path) throws IOException {
    return order("GET", path, "");
  }

  /** The metrics now. */
  public Metrics metrics() throws IOException {
    return Metrics.parse(get("/metrics"));
  }

  /**
   * What a path answers.
   *
   * @param json the content; empty for none
   * @throws IOException if nobody listens, or the answer is no success
   */
  public String order(String method, String path, String json) throws IOException {
    var url = URI.create("http://127.0.0.1:" + port + path).toURL();
    var connection = (HttpURLConnection) url.openConnection();
    connection.setConnectTimeout((int) limit.toMillis());
    connection.setReadTimeout((int) limit.toMillis());
    connection.setRequestProperty("Connection", "close");
    connection.setRequestMethod(method);
    Path token = directory.resolve("token");
    if (Files.exists(token)) {
      String secret = Files.readString(token).strip();
      connection.setRequestProperty("Authorization", "Bearer " + secret);
    }
    try {
      if (!json.isEmpty()) {
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.getOutputStream().write(json.getBytes(StandardCharsets.UTF_8));
      }
      try (var in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } finally {
      connection.disconnect();
    }
  }
}
