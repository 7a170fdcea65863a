package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever the pages name exists: classes, packages, settings, metrics, endpoints and pages. */
class PagesTest {

  /*
   * Decision records and the benchmark log say what was true on their day; they are left out. A
   * class is a word in code style with a capital and a second hump.
   */
  private static final Path ROOT = Path.of("..");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern CLASS =
      Pattern.compile("(?:[a-z0-9]+\\.)*([A-Z][a-z0-9]+[A-Z]\\w*)");
  private static final Pattern NAMED_TEST = Pattern.compile("(\\w+#\\w+)");
  private static final Pattern TEST = Pattern.compile(" void (\\w+)\\(");
  private static final Pattern METRIC = Pattern.compile("(kamille_[a-z_]+[a-z])(?:\\{.*)?");
  private static final Pattern DOTTED =
      Pattern.compile(
          "((?:listeners|upstreams|routes|limits|engine|overload|tuning|forwarding|log|core|cache"
              + "|admin|launcher|perf)(?:\\[\\]|\\.\\*)?(?:\\.[a-z0-9*-]+(?:\\[\\])?)+)(?:: .*)?");
  private static final Pattern ENDPOINT =
      Pattern.compile("(?<![\\w.])(/v1/[A-Za-z0-9{}./-]*[A-Za-z0-9}])");
  private static final Pattern PATH_CONSTANT =
      Pattern.compile("static final String PATH = \"([^\"]+)\"");
  private static final Pattern PATH = Pattern.compile("(PATH \\+ )?\"(/[a-z0-9{}./-]*)\"");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]*)(?:#([^)]*))?\\)");
  private static final Pattern LOG_MEMBER =
      Pattern.compile("\\\\\"(\\w+)\\\\\":|(?:text|token)\\([^\"]*\"(\\w+)\"");
  private static final Pattern RELOADED =
      Pattern.compile("(?m)^\\| `([^`]+)` \\|.*\\| reload \\|$");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  /** Names of others in the same style: of the JDK, Netty, the kernel, HTTP and systemd. */
  private static final Set<String> FOREIGN =
      Set.of(
          "FileRegion",
          "SplittableRandom",
          "HttpServerCodec",
          "EpollIoHandler",
          "ByteBuf",
          "LimitNOFILE",
          "RssShmem");

  @Test
  void classesAndAlertsExist() throws IOException {
    Set<String> known = new TreeSet<>(FOREIGN);
    sources().forEach(file -> known.add(file.getFileName().toString().replace(".java", "")));
    String all = allSources();
    String alerts = Files.readString(Path.of("src/main/deploy/prometheus/alerts.yaml"));
    assertThat(
            missing(
                CLASS,
                name ->
                    known.contains(name)
                        || all.contains(" " + name + " ")
                        || alerts.contains("alert: " + name + "\n")))
        .isEmpty();
  }

  @Test
  void testsExist() throws IOException {
    Set<String> known = new TreeSet<>();
    for (Path file : sources().toList()) {
      String name = file.getFileName().toString().replace(".java", "#");
      TEST.matcher(Files.readString(file))
          .results()
          .forEach(test -> known.add(name + test.group(1)));
    }
    assertThat(missing(NAMED_TEST, known::contains)).isEmpty();
  }

  @Test
  void metricsExist() throws IOException {
    String reference = Files.readString(ROOT.resolve("docs/reference/metrics.md"));
    String all = allSources();
    assertThat(missing(METRIC, name -> reference.contains(name) || all.contains(name))).isEmpty();
  }

  /** A dotted name is a setting, a group of settings, or a package; or the socket of the API. */
  @Test
  void settingsAndPackagesExist() throws IOException {
    String settings = Files.readString(ROOT.resolve("docs/reference/settings.md"));
    Set<String> packages = new TreeSet<>(Set.of("admin.sock"));
    sources()
        .forEach(
            file ->
                packages.add(
                    String.valueOf(file.getParent())
                        .replaceFirst(".*/java/io/kamille/?", "")
                        .replace('/', '.')));
    assertThat(
            missing(
                DOTTED,
                name ->
                    packages.contains(name)
                        || Stream.of("", "routes[].", "upstreams.*.", "listeners[].")
                            .map(group -> "`" + group + name)
                            .anyMatch(
                                start ->
                                    settings.contains(start + "`")
                                        || settings.contains(start + ".")
                                        || settings.contains(start + "[]"))))
        .isEmpty();
  }

  /** A reader of the map finds each package of the product on it. */
  @Test
  void eachPackageStandsOnTheMap() throws IOException {
    String map = Files.readString(ROOT.resolve("docs/architecture/index.md"));
    Set<String> missing = new TreeSet<>();
    for (Path file : sources().toList()) {
      String path = file.toString().replace('\\', '/');
      if (path.contains("/src/main/java/io/kamille/") && !path.startsWith("../perf/")) {
        String name =
            path.replaceFirst(".*/java/io/kamille/", "")
                .replaceFirst("/[^/]*$", "")
                .replace('/', '.');
        if (!map.contains("`" + name + "`")) {
          missing.add(name);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** Whoever changes a setting finds what a reload does to connections that are open. */
  @Test
  void thePageOnReloadsHasEachSettingThatTakesPart() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/operations/configure.md"));
    String table = page.substring(page.indexOf("### Open connections"), page.indexOf("## Try"));
    Set<String> told = new TreeSet<>();
    for (String row : table.split("\n", -1)) {
      CODE.matcher(row.replaceFirst("(?<=.)\\|.*", "|"))
          .results()
          .forEach(name -> told.add(name.group(1)));
    }
    Set<String> missing = new TreeSet<>();
    RELOADED
        .matcher(Files.readString(ROOT.resolve("docs/reference/settings.md")))
        .results()
        .map(row -> row.group(1))
        .filter(
            setting ->
                told.stream()
                    .noneMatch(
                        name ->
                            setting.equals(name)
                                || setting.matches(Pattern.quote(name) + "[.\\[].*")))
        .forEach(missing::add);
    assertThat(missing).isEmpty();
  }

  @Test
  void endpointsExist() throws IOException {
    Set<String> declared = new TreeSet<>();
    for (Path file : sources().toList()) {
      String source = Files.readString(file);
      Matcher constant = PATH_CONSTANT.matcher(source);
      String base = constant.find() ? constant.group(1) : "";
      Matcher path = PATH.matcher(source);
      while (path.find()) {
        declared.add(template((path.group(1) == null ? "" : base) + path.group(2)));
      }
    }
    List<String> missing = new ArrayList<>();
    for (Path page : pages()) {
      Matcher endpoint = ENDPOINT.matcher(Files.readString(page));
      while (endpoint.find()) {
        if (!declared.contains(template(endpoint.group(1)))) {
          missing.add(page + ": " + endpoint.group(1));
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The page about logs has each member of the access log, and each cache result. */
  @Test
  void membersOfTheAccessLogStandOnThePage() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/operations/logs.md"));
    Set<String> names = membersOfTheAccessLog();
    assertThat(names).contains("time", "durationSeconds", "cache", "userAgent");
    for (CacheResult result : CacheResult.values()) {
      names.add(result == CacheResult.NONE ? "cache" : result.token());
    }
    assertThat(names).allMatch(name -> page.contains("`" + name + "`"));
  }

  /** The members that each line of JSON may have. */
  static Set<String> membersOfTheAccessLog() throws IOException {
    Path format = ROOT.resolve("proxy-core/src/main/java/io/kamille/core/log/JsonFormat.java");
    Set<String> names = new TreeSet<>();
    LOG_MEMBER
        .matcher(Files.readString(format))
        .results()
        .forEach(name -> names.add(name.group(1) == null ? name.group(2) : name.group(1)));
    return names;
  }

  /** With {@code {}} for each segment that stands for others: numbers, capitals and braces. */
  private static String template(String path) {
    return path.replaceAll("/(?:\\{[^/]*\\}|[A-Z]+|\\d+)(?=/|$)", "/{}");
  }

  @Test
  void linkedPagesAndSectionsExist() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        if (Files.notExists(target)
            || (link.group(2) != null && !sections(target).contains(link.group(2)))) {
          broken.add(page + ": " + link.group());
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** The names that a page's headings have in links. */
  private static Set<String> sections(Path page) throws IOException {
    Set<String> sections = new TreeSet<>();
    Matcher heading = HEADING.matcher(Files.readString(page));
    while (heading.find()) {
      sections.add(
          heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-'));
    }
    return sections;
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

  static Stream<Path> sources() {
    return Stream.of(
            "proxy-core", "proxy-cache", "proxy-cluster", "proxy-admin", "distribution", "perf")
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
