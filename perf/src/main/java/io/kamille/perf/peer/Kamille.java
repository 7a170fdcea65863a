package io.kamille.perf.peer;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Programs;
import io.kamille.perf.load.FixedContent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Kamille, as {@code ./dev build} makes it.
 *
 * @param program {@code bin/kamille}
 * @param cache the part of the configuration below {@code cache}, in YAML; empty for what the job
 *     needs
 * @param settings more of the configuration, in YAML
 * @param adminPort of its metrics, on the loopback address; 0 for none
 */
public record Kamille(Path program, String cache, String settings, int adminPort) implements Peer {

  private static final String CONFIGURATION =
      """
      listeners:
        - address: %ADDRESS%:%PORT%
      loops: 1
      upstreams:
        origin:
          origins:
            - http://127.0.0.1:%ORIGIN%
          max-connections: 8192
          max-waiting: 8192
      routes:
        - upstream: origin%ROUTE%
      cache:
      %CACHE%
      limits:
        connections: %CONNECTIONS%
        idle-timeout: 1h
        idle-threshold: off
      log:
        access:
          enabled: off
      admin:
        address: %ADMIN%
      """;

  private static final String MEMORY = "  memory:\n    capacity: %MIB%MiB\n";
  private static final String DISK =
      """

        disk:
          path: %DIRECTORY%/store
          capacity: 1GiB
          keep-memory: off
          peak: off
      """;

  private static final long DISK_BYTES = 1L << 30;
  private static final int DISK_OBJECT_BYTES = 1 << 20;

  private static final String ADMIN_TOKEN = "\n  token-file: %DIRECTORY%/token";

  /** Kamille of that checkout. */
  public Kamille(Checkout checkout) {
    this(checkout.kamille(), "", "", 0);
  }

  /** Kamille by that {@code bin/kamille}. */
  public Kamille(Path program) {
    this(program, "", "", 0);
  }

  /** The same with another way of pacing: {@code off}, {@code adaptive} or an interval. */
  public Kamille withPacing(String way) {
    return with("engine:\n  pacing: " + way + "\n");
  }

  /** The same with these settings instead of those that were added before. */
  public Kamille with(String yaml) {
    return new Kamille(program, cache, yaml, adminPort);
  }

  /** The same with this below {@code cache}. */
  public Kamille withCache(String yaml) {
    return new Kamille(program, yaml, settings, adminPort);
  }

  /** The same with its metrics on that port. */
  public Kamille withMetrics(int port) {
    return new Kamille(program, cache, settings, port);
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
    String own = MEMORY + (place.job() == Job.DISK ? DISK : "");
    String text =
        CONFIGURATION
                .replace("%CACHE%\n", cache.isEmpty() ? own : cache)
                .replace("%ROUTE%", route)
                .replace("%ADMIN%", admin())
            + settings;
    if (place.job() == Job.DISK) {
      fillDisk(directory.resolve("store"), place);
    }
    Path file = Template.write(directory.resolve("kamille.yaml"), text, place);
    return command(file, place.javaOptions());
  }

  /** The command that runs it with that configuration. */
  List<String> command(Path file, List<String> javaOptions) {
    String options = String.join(" ", Jvm.withEnvironment(javaOptions));
    return List.of(
        "env", Jvm.OPTIONS + "=" + options, program.toString(), "run", "--config", file.toString());
  }

  private String admin() {
    return adminPort == 0 ? "off" : "127.0.0.1:" + adminPort + ADMIN_TOKEN;
  }

  /** The response that the job asks for, as an earlier process would have left it. */
  private static void fillDisk(Path store, Place place) throws IOException {
    String uri = "http://127.0.0.1:" + place.port() + "/hit/" + DISK_OBJECT_BYTES;
    DiskStore.write(store, DISK_BYTES, 1, _ -> uri, _ -> FixedContent.octets(DISK_OBJECT_BYTES));
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
