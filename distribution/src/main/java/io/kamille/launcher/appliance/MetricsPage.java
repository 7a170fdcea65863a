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
import java.util.stream.Stream;

/** The reference page of all metrics, as a running appliance has them. */
public final class MetricsPage {

  /*
   * A loop registers what it counts of cache and upstreams with its first request, so one request
   * is made, to an origin that is not there. The disk tier has a directory for the time being.
   */
  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0', {address: '127.0.0.1:0', name: tls, tls: self-signed}]
      loops: 1
      upstreams: {nobody: {origins: ['http://127.0.0.1:1']}}
      routes: [{upstream: nobody}]
      cache: {memory: {capacity: 1MiB}, disk: {path: '%s', capacity: 4MiB}}
      log: {level: error, access: {enabled: on, output: /dev/null}}
      tracing: {endpoint: 'http://127.0.0.1:1/v1/traces'}
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
    Path disk = Files.createTempDirectory("kamille-reference");
    try (Appliance appliance = Appliance.start(configuration(disk), "reference")) {
      ask(appliance.listening().getFirst());
      return MetricsReference.markdown(appliance.metrics().descriptors());
    } finally {
      delete(disk);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  private static Configuration configuration(Path disk) {
    String text = CONFIGURATION.replace("%s", disk.toString());
    return switch (ConfigurationFile.parse("reference", text.getBytes(StandardCharsets.UTF_8))) {
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
