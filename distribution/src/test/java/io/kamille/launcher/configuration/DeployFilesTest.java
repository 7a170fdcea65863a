package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.settings.ClusterSettings.ConfigChoice;
import io.kamille.launcher.cli.ExitCode;
import io.kamille.launcher.cli.KamilleCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What the packages, the image and the files for Kubernetes and compose bring is in force. */
class DeployFilesTest {

  private static final Path DEPLOY = Path.of("src", "main", "deploy");
  private static final Path CHART = DEPLOY.resolve("kubernetes/kamille");
  private static final List<String> NODES = List.of("kamille-0", "kamille-1", "kamille-2");
  private static final Path PACKAGE = Path.of("src", "package");

  @TempDir private Path directory;

  @Test
  void everyConfigurationThatIsShippedIsAccepted() throws IOException {
    accepted(Files.readString(PACKAGE.resolve("root/etc/kamille/kamille.yaml")));
    accepted(Files.readString(PACKAGE.resolve("image/kamille.yaml")));
    accepted(Files.readString(DEPLOY.resolve("compose/kamille.yaml")));
  }

  /** The parent POM has it; nothing else is to be changed for a release. */
  @Test
  void everyFileNamesTheVersionOfTheBuild() throws IOException {
    Matcher pom = Pattern.compile("<revision>(.*)</revision>").matcher(read("../pom.xml"));
    assertThat(pom.find()).isTrue();
    String version = pom.group(1);
    for (String file :
        List.of(
            "src/main/deploy/compose/compose.yaml",
            "src/main/deploy/kubernetes/kamille.yaml",
            "src/main/deploy/kubernetes/kamille/values.yaml",
            "../docs/operations/install.md",
            "../docs/operations/kubernetes.md")) {
      assertThat(
              Pattern.compile("kamille:(\\d[\\w.-]*)")
                  .matcher(read(file))
                  .results()
                  .map(named -> named.group(1)))
          .as(file)
          .isNotEmpty()
          .containsOnly(version);
    }
    assertThat(read("src/main/deploy/kubernetes/kamille/Chart.yaml"))
        .contains("\nversion: " + version + "\n", "\nappVersion: " + version + "\n");
    assertThat(read("../CHANGELOG.md")).contains("\n## " + version + " ");
  }

  private static String read(String file) throws IOException {
    return Files.readString(Path.of(file));
  }

  /** With its tests, which {@code kamille check} runs. */
  @Test
  void theExampleOfAShopPassesItsTests() throws IOException {
    Path users = directory.resolve("staff");
    Files.writeString(users, "anna:$2y$04$" + "a".repeat(53) + "\n");
    String shop = Files.readString(PACKAGE.resolve("examples/shop.yaml"));
    Path file = directory.resolve("shop.yaml");
    Files.writeString(file, shop.replace("/etc/kamille/staff", users.toString()));
    assertThat(shop).contains("tests:").contains("/etc/kamille/staff");
    assertThat(KamilleCommand.execute("check", "--config", file.toString())).isZero();
  }

  /** The service writes it: as a conffile, dpkg would ask about each commit. */
  @Test
  void theConfigurationIsNoConffile() throws IOException {
    assertThat(Files.readString(PACKAGE.resolve("deb/conffiles"))).doesNotContain("kamille.yaml");
    assertThat(Files.readString(PACKAGE.resolve("root/usr/lib/systemd/system/kamille.service")))
        .contains("ReadWritePaths=-/etc/kamille\n");
  }

  /** Such as a port that another server has: systemd would start the service for ever. */
  @Test
  void whatARestartDoesNotMendIsNotRestarted() throws IOException {
    String unit = Files.readString(PACKAGE.resolve("root/usr/lib/systemd/system/kamille.service"));
    int refusedByJava = 1;
    for (int code :
        List.of(
            refusedByJava,
            ExitCode.USAGE,
            ExitCode.UNREADABLE,
            ExitCode.UNAVAILABLE,
            ExitCode.SYSTEM,
            ExitCode.CONFIGURATION)) {
      assertThat(unit).containsPattern("RestartPreventExitStatus=.*\\b" + code + "\\b");
    }
  }

  /** The script would leave a mark that it does not know in the package, without a word. */
  @Test
  void whatTheTemplatesOfThePackagesLeaveOpenIsFilledIn() throws IOException {
    Set<String> open = new TreeSet<>();
    for (String name :
        List.of(
            "deb/changelog.in",
            "deb/control.in",
            "image/config.json",
            "image/index.json",
            "image/manifest.json")) {
      open.addAll(found("@[A-Z_]+@", PACKAGE.resolve(name)));
    }
    assertThat(found("(?<=s/)@[A-Z_]+@(?=/)", PACKAGE.resolve("stage"))).isEqualTo(open);
  }

  private static Set<String> found(String pattern, Path file) throws IOException {
    return Pattern.compile(pattern)
        .matcher(Files.readString(file))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  // The chart, as Helm renders it (./dev test --helm compares)

  /** Pods read their file once. */
  @Test
  void anotherConfigurationRestartsThePods() throws Exception {
    String text = at(document("ConfigMap"), String.class, "data", "kamille-0.yaml").stripTrailing();
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
    Map<?, ?> template = at(document("StatefulSet"), "spec", "template", "metadata", "annotations");
    assertThat(template.get("checksum/configuration")).isEqualTo(HexFormat.of().formatHex(digest));
    assertThat(Files.readString(CHART.resolve("templates/statefulset.yaml")))
        .containsPattern("checksum/configuration: \\{\\{ include \"kamille.file\" .* sha256sum }}");
  }

  /** The nodes of Kubernetes are those of a cluster, by what {@code kamille cluster init} makes. */
  @Test
  void eachPodHasAConfigurationThatIsAcceptedWithTheFilesOfInit() throws IOException {
    String domain = "kamille-nodes.default.svc.cluster.local";
    String secret = directory.toString();
    String[] init = {"cluster", "init", "--name", "kamille", "--directory", secret};
    Stream<String> nodes = NODES.stream().map(node -> node + "=" + node + "." + domain);
    String[] words = Stream.concat(Stream.of(init), nodes).toArray(String[]::new);
    assertThat(KamilleCommand.execute(words)).isZero();
    Map<?, ?> texts = at(document("ConfigMap"), "data");
    assertThat(texts.keySet())
        .isEqualTo(Set.of("kamille-0.yaml", "kamille-1.yaml", "kamille-2.yaml"));
    for (String node : NODES) {
      String text = at(texts, String.class, node + ".yaml");
      var cluster =
          accepted(text.replace(at(mount("cluster"), String.class, "mountPath"), secret)).cluster();
      assertThat(cluster.node()).isEqualTo(node);
      assertThat(cluster.voters()).isEqualTo(NODES);
      assertThat(cluster.bound().host()).isEqualTo(node + "." + domain);
      assertThat(cluster.discovery().dns()).isEqualTo(domain);
      assertThat(cluster.config()).as("the file is read-only").isEqualTo(ConfigChoice.LOCAL);
    }
  }

  @Test
  void nodesFindOneAnotherBeforeTheyAreReadyAndKeepTheirLog() throws IOException {
    Map<?, ?> set = at(document("StatefulSet"), "spec");
    Map<?, ?> service = document("Service", "-nodes");
    assertThat(set.get("serviceName")).isEqualTo(at(service, "metadata").get("name"));
    assertThat(set.get("podManagementPolicy")).isEqualTo("Parallel");
    assertThat(at(service, "spec").get("clusterIP")).isEqualTo("None");
    assertThat(at(service, "spec").get("publishNotReadyAddresses")).isEqualTo(true);
    assertThat(at(document("PodDisruptionBudget"), "spec").get("maxUnavailable")).isEqualTo(1);
    Map<?, ?> claim = (Map<?, ?>) at(set, List.class, "volumeClaimTemplates").getFirst();
    assertThat(at(mount("state"), String.class, "mountPath")).isEqualTo("/var/lib/kamille");
    assertThat(at(claim, "metadata").get("name")).isEqualTo("state");
  }

  @Test
  void aPodHasTimeToStartAndToDrain() throws IOException {
    Map<?, ?> pod = at(document("StatefulSet"), "spec", "template", "spec");
    String text = at(document("ConfigMap"), String.class, "data", "kamille-0.yaml");
    Configuration common = accepted(text.substring(0, text.indexOf("\ncluster:")));
    int sleep = at(container(), Integer.class, "lifecycle", "preStop", "sleep", "seconds");
    assertThat((Integer) pod.get("terminationGracePeriodSeconds"))
        .isGreaterThanOrEqualTo(
            (int) common.limits().shutdownDelay().toSeconds()
                + (int) common.limits().drainDeadline().toSeconds()
                + sleep
                + 10);
    int probes = at(container(), Integer.class, "startupProbe", "failureThreshold");
    int period = at(container(), Integer.class, "startupProbe", "periodSeconds");
    assertThat(probes * period).isGreaterThan(60 + 30);
  }

  /** The operator names the job by a label of the Service, if the monitor says which. */
  @Test
  void theAlertThatNobodyAnswersAsksForTheJobOfTheMonitor() throws IOException {
    Map<?, ?> monitor =
        at((Map<?, ?>) load(DEPLOY.resolve("kubernetes/servicemonitor.yaml")).getFirst(), "spec");
    Map<?, ?> labels = at(document("Service", "-nodes"), "metadata", "labels");
    Object job = labels.get(requireNonNull(monitor.get("jobLabel")));
    at(monitor, "selector", "matchLabels")
        .forEach((label, value) -> assertThat(labels.get(label)).isEqualTo(value));
    assertThat(Files.readString(DEPLOY.resolve("prometheus/alerts.yaml")))
        .contains("up{job=\"" + job + "\"} == 0");
  }

  @Test
  void aPodMayDoNothingThatItNeedsNot() throws IOException {
    Map<?, ?> pod = at(document("StatefulSet"), "spec", "template", "spec");
    assertThat(at(pod, "securityContext").get("runAsNonRoot")).isEqualTo(true);
    assertThat(at(container(), "securityContext").get("readOnlyRootFilesystem")).isEqualTo(true);
    assertThat(at(container(), "securityContext", "capabilities").get("drop"))
        .isEqualTo(List.of("ALL"));
  }

  /** Helm would render an unknown one as nothing. */
  @Test
  void theChartUsesItsValuesAndNoOthers() throws IOException {
    Set<String> used = new TreeSet<>();
    try (Stream<Path> templates = Files.list(CHART.resolve("templates"))) {
      for (Path template : templates.toList()) {
        Pattern.compile("\\.Values\\.([A-Za-z.]+)")
            .matcher(Files.readString(template))
            .results()
            .forEach(match -> used.add(match.group(1)));
      }
    }
    Map<?, ?> values = (Map<?, ?>) load(CHART.resolve("values.yaml")).getFirst();
    Set<String> given = new TreeSet<>();
    values.forEach(
        (name, value) -> {
          boolean isGroup = Set.of("service", "storage").contains(name);
          (isGroup ? ((Map<?, ?>) value).keySet() : Set.of(""))
              .forEach(each -> given.add(isGroup ? name + "." + each : name.toString()));
        });
    assertThat(used).isEqualTo(given);
    Map<?, ?> schema = (Map<?, ?>) load(CHART.resolve("values.schema.json")).getFirst();
    assertThat(at(schema, "properties").keySet()).isEqualTo(withGlobal(values.keySet()));
    assertThat(at(document("ConfigMap"), String.class, "data", "kamille-0.yaml"))
        .startsWith(at(values, String.class, "configuration"));
  }

  private static Set<Object> withGlobal(Set<?> names) {
    Set<Object> all = new HashSet<>(names);
    all.add("global");
    return all;
  }

  private static Map<?, ?> container() throws IOException {
    Map<?, ?> pod = at(document("StatefulSet"), "spec", "template", "spec");
    return (Map<?, ?>) at(pod, List.class, "containers").getFirst();
  }

  private static Map<?, ?> mount(String name) throws IOException {
    for (Object mount : at(container(), List.class, "volumeMounts")) {
      if (name.equals(((Map<?, ?>) mount).get("name"))) {
        return (Map<?, ?>) mount;
      }
    }
    throw new AssertionError(name);
  }

  private static Map<?, ?> document(String kind) throws IOException {
    return document(kind, "");
  }

  private static Map<?, ?> document(String kind, String end) throws IOException {
    return load(DEPLOY.resolve("kubernetes/kamille.yaml")).stream()
        .map(document -> (Map<?, ?>) document)
        .filter(document -> kind.equals(document.get("kind")))
        .filter(document -> at(document, String.class, "metadata", "name").endsWith(end))
        .findFirst()
        .orElseThrow();
  }

  private static List<Object> load(Path file) throws IOException {
    String text = Files.readString(file);
    Iterable<Object> documents = new Load(LoadSettings.builder().build()).loadAllFromString(text);
    return StreamSupport.stream(documents.spliterator(), false).toList();
  }

  private static Map<?, ?> at(Map<?, ?> document, String... path) {
    return at(document, Map.class, path);
  }

  private static <T> T at(Map<?, ?> document, Class<T> type, String... path) {
    Object found = document;
    for (String name : path) {
      found = requireNonNull(((Map<?, ?>) found).get(name), name);
    }
    return type.cast(found);
  }

  private static Configuration accepted(String text) {
    var reading = ConfigurationFile.parseAlone("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }
}
