package io.kamille.perf.peer;

import io.kamille.perf.host.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Servers with two routes: {@code /a} has two origins or more, everything else another. Nothing is
 * stored, nothing is logged. An origin has a second to connect and a second for its head,
 * everywhere; for the rest each does what its manual recommends against origins that fail.
 */
public enum TwoRoutes {
  /** Checks every other second, beside what requests say. */
  KAMILLE("kamille", "kamille.yaml", Text.KAMILLE),
  /** A second origin is asked after the time that 19 of 20 requests take. */
  KAMILLE_HEDGE("kamille-hedge", "kamille.yaml", Text.KAMILLE),
  /** Passive health by its defaults: max_fails=1, fail_timeout=10s; proxy_next_upstream too. */
  NGINX(
      "nginx",
      "nginx.conf",
      """
      %USER%
      daemon off;
      worker_processes 1;
      worker_rlimit_nofile 20000;
      pid %DIRECTORY%/nginx.pid;
      error_log stderr crit;
      events {
        worker_connections 8192;
      }
      http {
        access_log off;
        keepalive_timeout 1h;
        keepalive_requests 1000000000;
        client_body_temp_path %DIRECTORY%/body;
        proxy_temp_path %DIRECTORY%/proxy;
        fastcgi_temp_path %DIRECTORY%/fastcgi;
        uwsgi_temp_path %DIRECTORY%/uwsgi;
        scgi_temp_path %DIRECTORY%/scgi;
        upstream a {
      %ORIGINS%
          keepalive 64;
        }
        upstream b {
          server 127.0.0.1:%OTHER%;
          keepalive 64;
        }
        server {
          listen 127.0.0.1:%PORT% backlog=1024;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_connect_timeout 1s;
          proxy_read_timeout 1s;
          location / {
            proxy_pass http://b;
          }
          location /a {
            proxy_pass http://a;
          }
        }
      }
      """),
  /** Traffic is observed, and a check every other second brings an origin back. */
  HAPROXY(
      "haproxy",
      "haproxy.cfg",
      """
      global
        nbthread 1
        maxconn 8192
        no strict-limits
      defaults
        mode http
        timeout connect 1s
        timeout client 1h
        timeout server 1s
        timeout http-keep-alive 1h
        http-reuse always
        retries 3
        option redispatch
      resolvers dns
        parse-resolv-conf
        resolve_retries 3
        timeout resolve 1s
        timeout retry 1s
        hold valid 1s
        hold timeout 1h
        hold refused 1h
        hold other 1h
        hold nx 1h
        hold obsolete 1h
      frontend clients
        bind 127.0.0.1:%PORT% backlog 1024
        use_backend a if { path_beg /a }
        default_backend b
      backend a
        balance roundrobin
        option httpchk GET /
        default-server check inter 2s observe layer7 error-limit 10 on-error mark-down
      %ORIGINS%
      backend b
        server b1 127.0.0.1:%OTHER%
      """);

  /**
   * Where everything listens, on the loopback address.
   *
   * @param port the server
   * @param origins those of {@code /a}; the first one fails
   * @param other the origin of the other route
   * @param host the name or address of the origins of {@code /a}
   */
  public record Ports(int port, List<Integer> origins, int other, String host) {}

  /** What several of them have in common. */
  private static final class Text {
    static final String KAMILLE =
        """
        listeners:
          - address: 127.0.0.1:%PORT%
        loops: 1
        upstreams:
          a:
            origins:
        %ORIGINS%
            connect-timeout: 1s
            head-timeout: 1s
            hedge: %HEDGE%
            health:
              check: {kind: http, interval: 2s}
          b:
            origins:
              - http://127.0.0.1:%OTHER%
            connect-timeout: 1s
            head-timeout: 1s
        routes:
          - path: /a
            upstream: a
            cache: {enabled: off}
          - upstream: b
            cache: {enabled: off}
        limits:
          connections: 8192
        log:
          access:
            enabled: off
        admin:
          address: off
        """;
  }

  /** Where everything is. */
  public static final String ADDRESS = "127.0.0.1";

  private final String label;
  private final String fileName;
  private final String configuration;

  TwoRoutes(String label, String fileName, String configuration) {
    this.label = label;
    this.fileName = fileName;
    this.configuration = configuration;
  }

  public String label() {
    return label;
  }

  /** The server, as far as it is the same as with one route. */
  public Peer peer(Checkout checkout) {
    return switch (this) {
      case KAMILLE, KAMILLE_HEDGE -> new Kamille(checkout);
      case NGINX -> new Nginx();
      case HAPROXY -> new Haproxy();
    };
  }

  /** Writes the configuration and returns the command that runs the server in the foreground. */
  public List<String> prepare(Checkout checkout, Path directory, Ports ports) throws IOException {
    Path file = directory.resolve(fileName);
    Files.writeString(file, text(directory, ports));
    return switch (this) {
      case KAMILLE, KAMILLE_HEDGE -> new Kamille(checkout).command(file, List.of());
      case NGINX -> List.of(new Nginx().path(), "-p", directory.toString(), "-c", file.toString());
      case HAPROXY -> List.of(new Haproxy().path(), "-db", "-f", file.toString());
    };
  }

  String text(Path directory, Ports ports) {
    boolean isRoot = "root".equals(System.getProperty("user.name"));
    return configuration
        .replace("%HEDGE%", this == KAMILLE_HEDGE ? "p95" : "off")
        .replace("%USER%", isRoot ? "user root;" : "")
        .replace("%DIRECTORY%", directory.toString())
        .replace("%PORT%", Integer.toString(ports.port()))
        .replace("%ORIGINS%", origins(ports))
        .replace("%OTHER%", Integer.toString(ports.other()));
  }

  private String origins(Ports ports) {
    boolean isNamed = !ports.host().equals(ADDRESS);
    return ports.origins().stream()
        .map(port -> ports.host() + ":" + port)
        .map(
            origin ->
                switch (this) {
                  case KAMILLE, KAMILLE_HEDGE -> "      - http://" + origin;
                  case NGINX -> "    server " + origin + ";";
                  case HAPROXY ->
                      "  server a"
                          + origin.substring(origin.indexOf(':') + 1)
                          + " "
                          + origin
                          + (isNamed ? " resolvers dns" : "");
                })
        .collect(Collectors.joining("\n"));
  }
}
