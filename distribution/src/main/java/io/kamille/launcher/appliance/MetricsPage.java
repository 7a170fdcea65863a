package io.kamille.launcher.appliance;

import io.kamille.admin.metric.MetricsReference;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The reference page of all metrics, as a running appliance has them. */
public final class MetricsPage {

  /*
   * A loop registers what it counts of cache and upstreams with its first request, so one request
   * is made, to an origin that is not there.
   */
  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0']
      loops: 1
      upstreams: {nobody: {origins: ['http://127.0.0.1:1']}}
      routes: [{upstream: nobody}]
      cache: {memory: {capacity: 1MiB}}
      log: {level: error, access: {enabled: on, output: /dev/null}}
      admin: {address: 'off'}
      """;

  private MetricsPage() {}

  /**
   * Writes the page.
   *
   * @param arguments the file to write
   */
  public static void main(String[] arguments) throws StartFailure, IOException {
    if (arguments.length != 1) {
      throw new IllegalArgumentException("expected: one argument, the file to write");
    }
    Files.writeString(Path.of(arguments[0]), render());
  }

  /** The page as Markdown. */
  public static String render() throws StartFailure, IOException {
    try (Appliance appliance = Appliance.start(configuration(), "reference")) {
      ask(appliance.listening().getFirst());
      return MetricsReference.markdown(appliance.metrics().descriptors());
    }
  }

  private static Configuration configuration() {
    return switch (ConfigurationFile.parse(
        "reference", CONFIGURATION.getBytes(StandardCharsets.UTF_8))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused ->
          throw new IllegalStateException(refused.problems().toString());
    };
  }

  private static void ask(String address) throws IOException {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getInputStream().readAllBytes();
    }
  }
}
