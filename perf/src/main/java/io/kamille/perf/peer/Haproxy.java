package io.kamille.perf.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** HAProxy with its cache in memory, or as a plain proxy where nothing is to be stored. */
public record Haproxy() implements Peer {

  private static final String CONFIGURATION =
      """
      global
        nbthread 1
        maxconn %CONNECTIONS%
        no strict-limits
      defaults
        mode http
        timeout connect 5s
        timeout client 1h
        timeout server 1h
        timeout http-keep-alive 1h
        http-reuse always
      cache hit
        total-max-size %SIZE%
        max-object-size 2000000
        max-age 3600
      frontend clients
        bind %ADDRESS%:%PORT% backlog 1024
        default_backend origin
      backend origin
        server only 127.0.0.1:%ORIGIN%
      """;

  /** It does not store what it has compressed, but compresses each answer anew. */
  private static final String CODED =
      """
        filter cache hit
        filter compression
        compression algo gzip
        compression type text/plain
      """;

  private static final String STORE =
      """
        http-request cache-use hit
        http-response cache-store hit
      """;

  @Override
  public String name() {
    return "haproxy";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    String text =
        CONFIGURATION
            + (place.job().isStoring() ? STORE : "")
            + (place.job() == Job.CODED ? CODED : "");
    text = text.replace("%SIZE%", place.job() == Job.MIX ? "%MIB%" : "64");
    Path file = Template.write(directory.resolve("haproxy.cfg"), text, place);
    return List.of(path(), "-db", "-f", file.toString());
  }
}
