package io.kamille.launcher.demo;

import io.kamille.core.setting.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
   * @param more what the file ends with
   * @throws IOException if it cannot be written
   */
  public static Path write(
      Path directory,
      String listen,
      @Nullable String listenTls,
      String origin,
      String admin,
      String more)
      throws IOException {
    Path file = directory.resolve("kamille.yaml").toAbsolutePath();
    String tls =
        listenTls == null
            ? ""
            : """
              - address: "%s"
                name: tls
                tls: self-signed   # a certificate made at start, to try HTTPS and HTTP/2
            """
                .replace("%s", listenTls);
    String text =
        String.format(
            Locale.ROOT,
            """
            # The configuration of the demo, written anew at each start.
            # Change it in the browser under Configuration, or with kamille config.
            listeners:
              - "%s"
            %s
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
            tls,
            origin,
            admin,
            directory.toAbsolutePath().resolve("admin-token"));
    PrivateFile.replace(file, (text + more).getBytes(StandardCharsets.UTF_8));
    return file;
  }
}
