package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What the packages, the image and the files for Kubernetes and compose bring is in force. */
class DeployFilesTest {

  private static final Path DEPLOY = Path.of("src", "main", "deploy");
  private static final Path PACKAGE = Path.of("src", "package");

  @Test
  void everyConfigurationThatIsShippedIsAccepted() throws IOException {
    accepted(Files.readString(PACKAGE.resolve("root/etc/kamille/kamille.yaml")));
    accepted(Files.readString(PACKAGE.resolve("image/kamille.yaml")));
    accepted(Files.readString(DEPLOY.resolve("compose/kamille.yaml")));
  }

  /** It is a conffile: who has changed it is asked at every release that changes it, too. */
  @Test
  void theConfigurationOfThePackagesHasTenLines() throws IOException {
    assertThat(Files.readAllLines(PACKAGE.resolve("root/etc/kamille/kamille.yaml"))).hasSize(10);
  }

  @Test
  void aPodHasTimeToDrain() throws IOException {
    Map<?, ?> pod = at(document("Deployment"), "spec", "template", "spec");
    Map<?, ?> container = (Map<?, ?>) at(pod, List.class, "containers").getFirst();
    Configuration configuration =
        accepted(at(document("ConfigMap"), String.class, "data", "kamille.yaml"));
    int sleep = at(container, Integer.class, "lifecycle", "preStop", "sleep", "seconds");
    assertThat((Integer) pod.get("terminationGracePeriodSeconds"))
        .isGreaterThanOrEqualTo(
            (int) configuration.limits().drainDeadline().toSeconds() + sleep + 10);
  }

  @Test
  void aPodMayDoNothingThatItNeedsNot() throws IOException {
    Map<?, ?> pod = at(document("Deployment"), "spec", "template", "spec");
    Map<?, ?> container = (Map<?, ?>) at(pod, List.class, "containers").getFirst();
    assertThat(at(pod, "securityContext").get("runAsNonRoot")).isEqualTo(true);
    assertThat(at(container, "securityContext").get("readOnlyRootFilesystem")).isEqualTo(true);
    assertThat(at(container, "securityContext", "capabilities").get("drop"))
        .isEqualTo(List.of("ALL"));
  }

  private static Map<?, ?> document(String kind) throws IOException {
    String text = Files.readString(DEPLOY.resolve("kubernetes/kamille.yaml"));
    Iterable<Object> documents = new Load(LoadSettings.builder().build()).loadAllFromString(text);
    return StreamSupport.stream(documents.spliterator(), false)
        .map(document -> (Map<?, ?>) document)
        .filter(document -> kind.equals(document.get("kind")))
        .findFirst()
        .orElseThrow();
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
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }
}
