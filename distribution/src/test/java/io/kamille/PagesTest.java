package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages name exists: classes, metrics, endpoints and other pages. */
class PagesTest {

  /*
   * Decision records and the benchmark log say what was true on their day; they are left out. A
   * class is a word in code style with a capital and a second hump.
   */
  private static final Path ROOT = Path.of("..");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern CLASS =
      Pattern.compile("(?:[a-z0-9]+\\.)*([A-Z][a-z0-9]+[A-Z]\\w*)");
  private static final Pattern METRIC = Pattern.compile("(kamille_[a-z_]+[a-z])(?:\\{.*)?");
  private static final Pattern ENDPOINT = Pattern.compile("(?:[A-Z]+ )?(/v1/[a-z./-]+[a-z]).*");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(?:#[^)]*)?\\)");

  /** Names of others in the same style: of the JDK, Netty, the kernel, HTTP and systemd. */
  private static final Set<String> FOREIGN =
      Set.of(
          "FileRegion",
          "SplittableRandom",
          "HttpServerCodec",
          "EpollIoHandler",
          "ByteBuf",
          "RssShmem");

  @Test
  void classesExist() throws IOException {
    Set<String> known = new TreeSet<>(FOREIGN);
    sources().forEach(file -> known.add(file.getFileName().toString().replace(".java", "")));
    String all = allSources();
    assertThat(missing(CLASS, name -> known.contains(name) || all.contains(" " + name + " ")))
        .isEmpty();
  }

  @Test
  void metricsExist() throws IOException {
    String reference = Files.readString(ROOT.resolve("docs/reference/metrics.md"));
    String all = allSources();
    assertThat(missing(METRIC, name -> reference.contains(name) || all.contains(name))).isEmpty();
  }

  @Test
  void endpointsExist() throws IOException {
    String all = allSources();
    assertThat(missing(ENDPOINT, name -> all.contains("\"" + name) || all.contains(name)))
        .isEmpty();
  }

  @Test
  void linkedPagesExist() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        if (Files.notExists(page.resolveSibling(link.group(1)))) {
          broken.add(page + ": " + link.group(1));
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static List<String> missing(Pattern kind, java.util.function.Predicate<String> exists)
      throws IOException {
    List<String> missing = new ArrayList<>();
    for (Path page : pages()) {
      Matcher code = CODE.matcher(Files.readString(page));
      while (code.find()) {
        Matcher name = kind.matcher(code.group(1));
        if (name.matches() && !exists.test(name.group(1))) {
          missing.add(page + ": " + name.group(1));
        }
      }
    }
    return missing;
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md")));
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      docs.filter(page -> page.toString().endsWith(".md"))
          .filter(page -> !page.toString().contains("/adr/"))
          .forEach(pages::add);
    }
    return pages;
  }

  private static Stream<Path> sources() {
    return Stream.of("proxy-core", "proxy-cache", "proxy-admin", "distribution", "perf")
        .flatMap(
            module -> {
              try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
                return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
              } catch (IOException failed) {
                throw new UncheckedIOException(failed);
              }
            });
  }

  private static String allSources() throws IOException {
    StringBuilder all = new StringBuilder();
    for (Path file : sources().toList()) {
      all.append(Files.readString(file));
    }
    return all.toString();
  }
}
