package io.kamille.perf.peer;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Kamille, as {@code ./dev build} makes it.
 *
 * @param program {@code bin/kamille}
 * @param pacing {@code off}, {@code adaptive} or an interval; null leaves it to its default
 */
public record Kamille(Path program, @Nullable String pacing) implements Peer {

  private static final String CONFIGURATION =
      """
      listeners:
        - address: 127.0.0.1:%PORT%
      loops: 1
      upstreams:
        origin:
          origins:
            - http://127.0.0.1:%ORIGIN%
      routes:
        - upstream: origin%ROUTE%
      cache:
        memory:
          capacity: %MIB%MiB
      limits:
        connections: %CONNECTIONS%
        idle-timeout: 1h
        idle-threshold: off
      log:
        access:
          enabled: off
      admin:
        address: off
      """;

  private static final String PACING =
      """
      engine:
        pacing: %PACING%
      """;

  /** Kamille of that checkout. */
  public Kamille(Checkout checkout) {
    this(checkout.kamille(), null);
  }

  /** The same with another way of pacing. */
  public Kamille withPacing(String way) {
    return new Kamille(program, way);
  }

  @Override
  public String name() {
    return "kamille";
  }

  @Override
  public @Nullable String missing() {
    return Files.isExecutable(program) ? null : "kamille is not built; build it with: ./dev build";
  }

  @Override
  public String version() {
    return Programs.firstLine(List.of(program.toString(), "version"));
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    String route = place.job() == Job.CODED ? "\n    cache: {compress: on}" : "";
    String text =
        CONFIGURATION.replace("%ROUTE%", route)
            + (pacing == null ? "" : PACING.replace("%PACING%", pacing));
    Path file = Template.write(directory.resolve("kamille.yaml"), text, place);
    String options = String.join(" ", Jvm.withEnvironment(place.javaOptions()));
    return List.of(
        "env", Jvm.OPTIONS + "=" + options, program.toString(), "run", "--config", file.toString());
  }

  @Override
  public int warmupSeconds() {
    return Jvm.WARMUP_SECONDS;
  }

  @Override
  public boolean isJava() {
    return true;
  }
}
