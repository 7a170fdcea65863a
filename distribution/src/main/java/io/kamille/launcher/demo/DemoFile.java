package io.kamille.launcher.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The demo's configuration file, so that whoever tries the demo can change it. */
public final class DemoFile {

  private DemoFile() {}

  /**
   * Writes the file into a directory that becomes the demo's state directory.
   *
   * @param listen a valid address
   * @param listenTls where HTTPS is served; null for nowhere
   * @param origin a URL
   * @param admin a valid address
   * @param node what more is of this node alone, which then has a file of its own for that; empty
   *     for one file
   * @throws IOException if it cannot be written
   */
  public static Path write(
      Path directory,
      String listen,
      @Nullable String listenTls,
      String origin,
      String admin,
      String node)
      throws IOException {
    Path file = directory.resolve("kamille.yaml").toAbsolutePath();
    String tls =
        listenTls == null
            ? ""
            : """
              - address: "%s"
                tls: self-signed   # a certificate made at start, to try HTTPS and HTTP/2
            """
                .replace("%s", listenTls);
    String own =
        String.format(
            Locale.ROOT,
            """
            listeners:
              - "%s"
            %s
            admin:
              address: "%s"
              token-file: "%s"
            """,
            listen,
            tls,
            admin,
            directory.toAbsolutePath().resolve("admin-token"));
    String text =
        """
        # The configuration of the demo, written anew at each start.
        # Change it in the browser under Configuration, or with kamille config.
        %own
        upstreams:
          site:
            origins: ["%s"]   # the small origin server inside the demo

        routes:
          - path: /
            upstream: site
          - path: /landscape.svg
            upstream: site
            cache:
              ttl: 10s        # whatever the origin says

        cache:
          memory:
            capacity: 64MiB
        """
            .replace("%s", origin)
            .replace("%own", node.isEmpty() ? own : "include: [node.yaml]\n");
    if (!node.isEmpty()) {
      DurableFile.replace(file.resolveSibling("node.yaml"), (own + node).getBytes(UTF_8));
    }
    DurableFile.replace(file, text.getBytes(UTF_8));
    return file;
  }
}
