package io.kamille.launcher.demo;

import io.kamille.admin.auth.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;

/** The demo's configuration file, so that whoever tries the demo can change it. */
public final class DemoFile {

  private DemoFile() {}

  /**
   * Writes the file into a directory that becomes the demo's state directory.
   *
   * @param listen a valid address
   * @param listenTls where HTTPS is served
   * @param origin a URL
   * @param admin a valid address
   * @throws IOException if it cannot be written
   */
  public static Path write(
      Path directory, String listen, String listenTls, String origin, String admin)
      throws IOException {
    Path file = directory.resolve("kamille.yaml").toAbsolutePath();
    String text =
        String.format(
            Locale.ROOT,
            """
            # The configuration of the demo, written anew at each start.
            # Change it in the browser under Configuration, or with kamille config.
            listeners:
              - "%s"
              - address: "%s"
                name: tls
                tls: self-signed   # a certificate made at start, to try HTTPS and HTTP/2

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

            admin:
              address: "%s"
              token-file: "%s"
            """,
            listen,
            listenTls,
            origin,
            admin,
            directory.toAbsolutePath().resolve("admin-token"));
    PrivateFile.replace(file, text.getBytes(StandardCharsets.UTF_8));
    return file;
  }
}
