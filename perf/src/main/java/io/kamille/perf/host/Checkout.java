package io.kamille.perf.host;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The source tree that these classes were built from.
 *
 * @param root its top directory
 */
public record Checkout(Path root) {

  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  /** The tree that holds {@code perf/target/classes}, where this class comes from. */
  public static Checkout find() {
    try {
      var source = Checkout.class.getProtectionDomain().getCodeSource();
      for (Path at = Path.of(source.getLocation().toURI()); at != null; at = at.getParent()) {
        if (Files.isExecutable(at.resolve("dev"))) {
          return new Checkout(at);
        }
      }
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalStateException("not within a checkout (expected: run by ./dev bench)");
  }

  /** The program that starts Kamille, as {@code ./dev build} makes it. */
  public Path kamille() {
    return root.resolve("distribution/target/kamille/bin/kamille");
  }

  /** Where the raw data of a run is kept. */
  public Path logData() {
    return root.resolve("perf/log/data");
  }

  /**
   * Makes a directory for what comes out of a run.
   *
   * @param named by who runs it; null for one in {@code perf/target}
   * @param name of that, before the time
   */
  public Path results(@Nullable Path named, String name) throws IOException {
    String stamp = LocalDateTime.now(ZoneOffset.UTC).format(STAMP);
    return Files.createDirectories(
        named != null ? named : root.resolve("perf/target").resolve(name + "-" + stamp));
  }

  /** The commit, marked if the tree holds changes that are not in it. */
  public String commit() {
    return Programs.firstLine(
        List.of("git", "-C", root.toString(), "describe", "--always", "--dirty", "--abbrev=12"));
  }
}
