package io.kamille.perf.peer;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Kamille, as {@code ./dev build} makes it.
 *
 * @param label in tables
 * @param program {@code bin/kamille}
 * @param cache the part of the configuration below {@code cache}, in YAML
 * @param settings more of the configuration, in YAML
 * @param adminPort of its control plane, on the loopback address; 0 for none
 */
public record Kamille(String label, Path program, String cache, String settings, int adminPort)
    implements Peer {

  private static final String MEMORY = "  memory:\n    capacity: %MIB%MiB\n";
  private static final String ADMIN_TOKEN = "\n  token-file: %DIRECTORY%/token";

  /** Kamille of that checkout. */
  public static Kamille of(Checkout checkout) {
    return by("kamille", checkout.kamille());
  }

  /** Kamille by that {@code bin/kamille}. */
  public static Kamille by(String label, Path program) {
    return new Kamille(label, program, MEMORY, "", 0);
  }

  /** The same with another way of pacing: {@code off}, {@code adaptive} or an interval. */
  public Kamille withPacing(String way) {
    return with("engine:\n  pacing: " + way + "\n");
  }

  /** The same with these settings instead of those that were added before. */
  public Kamille with(String yaml) {
    return new Kamille(label, program, cache, yaml, adminPort);
  }

  /** The same with this below {@code cache}. */
  public Kamille withCache(String yaml) {
    return new Kamille(label, program, yaml, settings, adminPort);
  }

  /** The same with its control plane on that port. */
  public Kamille withMetrics(int port) {
    return new Kamille(label, program, cache, settings, port);
  }

  @Override
  public @Nullable String missing() {
    return Files.isExecutable(program)
        ? null
        : program + " is not there; build Kamille with: ./dev build";
  }

  @Override
  public String version() {
    return Programs.firstLine(List.of(program.toString(), "version"));
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    String text =
        Resource.text(Template.class, "kamille.yaml")
                .replace("%CACHE%", cache)
                .replace("%ADMIN%", adminPort == 0 ? "off" : "127.0.0.1:" + adminPort + ADMIN_TOKEN)
            + settings;
    Path file = Template.write(directory.resolve("kamille.yaml"), text, place);
    // Two processes must not share their state, nor take that of whoever runs the bench.
    var words = List.of("env", "STATE_DIRECTORY=" + directory.toAbsolutePath());
    return Stream.concat(words.stream(), Stream.of(program + "", "run", "--config", file + ""))
        .toList();
  }

  @Override
  public boolean isJava() {
    return true;
  }
}
