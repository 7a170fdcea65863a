package io.kamille.perf.peer;

import io.kamille.perf.load.FixedContent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** h2o, which has no cache for what it proxies: it serves the objects from files. */
public record H2o() implements Peer {

  private static final int[] SIZES = {1 << 10, 1 << 20};

  private static final String CONFIGURATION =
      """
      num-threads: 1
      max-connections: %CONNECTIONS%
      pid-file: %DIRECTORY%/h2o.pid
      listen:
        host: %ADDRESS%
        port: %PORT%
      hosts:
        default:
          paths:
            /hit:
              file.dir: %DIRECTORY%/hit
      """;

  @Override
  public String name() {
    return "h2o";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    Path objects = Files.createDirectories(directory.resolve("hit"));
    for (int size : SIZES) {
      Files.write(objects.resolve(Integer.toString(size)), FixedContent.octets(size));
    }
    String user = Template.isRoot() ? "user: root\n" : "";
    Path file = Template.write(directory.resolve("h2o.conf"), user + CONFIGURATION, place);
    return List.of(path(), "-c", file.toString());
  }
}
