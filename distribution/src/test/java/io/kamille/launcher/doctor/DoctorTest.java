package io.kamille.launcher.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.memory.Folios;
import io.kamille.core.tls.Certificates;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.doctor.Doctor.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Advice is given where something is too little, and nowhere else. */
class DoctorTest {

  @TempDir private Path root;
  private long running;

  private List<Finding> findings(String more) {
    return findings("", more);
  }

  private List<Finding> findings(String ofListener, String more) {
    String text =
        """
        listeners: [{address: ':8080'%s}]
        loops: 2
        upstreams: {a: {origins: ['http://127.0.0.1:1'], max-connections: 500}}
        routes: [{upstream: a}]
        limits: {connections: 1000}
        """
                .replace("%s", ofListener)
            + more;
    var reading = ConfigurationFile.parseAlone("kamille.yaml", text.getBytes(UTF_8));
    Configuration configuration = ((ConfigurationReading.Accepted) reading).configuration();
    return Doctor.examine(root, running, configuration);
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void machine(String descriptors, String backlog, String ports, String memoryKib)
      throws IOException {
    file("proc/self/limits", "Max open files            " + descriptors + "   524288   files\n");
    file("proc/sys/net/core/somaxconn", backlog + "\n");
    file("proc/sys/net/ipv4/ip_local_port_range", ports + "\n");
    file("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:   " + memoryKib + " kB\n");
    file("proc/sys/vm/overcommit_memory", "0\n");
    file(Folios.SWITCH, "always inherit within_size [advise] never\n");
    file("run/systemd/timesync/synchronized", "");
  }

  @Test
  void aMachineWithEnoughOfEverythingNeedsNoChange() throws IOException {
    machine("2200", "4096", "10000\t10999", "999999999");
    assertThat(findings("")).isNotEmpty().allMatch(Finding::isWell);
  }

  /** Its limits, its heap and what it has already, not those of the shell. */
  @Test
  void theRunningProcessCountsIfThereIsOne() throws IOException {
    machine("64", "4096", "10000\t10999", "102400");
    running = 7;
    file("proc/7/limits", "Max open files            2200   524288   files\n");
    file("proc/7/cmdline", "java\0-Xmx1g\0-Xmx64m\0run\0");
    file("proc/7/status", "RssAnon:\t 102400 kB\nRssFile:\t 999999 kB\nRssShmem:\t 204800 kB\n");
    assertThat(findings("cache: {memory: {capacity: 256MiB}}")).allMatch(Finding::isWell);
    assertThat(findings("cache: {memory: {capacity: 300MiB}}").stream().filter(f -> !f.isWell()))
        .singleElement()
        .asString()
        .contains("change  available memory in MiB: 400. ", "428 MiB");
  }

  @Test
  void eachThingThatIsTooLittleIsNamedWithItsRemedy() throws IOException {
    machine("2199", "999", "10000\t10998", "1024");
    file("proc/sys/vm/overcommit_memory", "2\n");
    file(Folios.SWITCH, "always inherit within_size advise [never]\n");
    Files.delete(root.resolve("run/systemd/timesync/synchronized"));
    assertThat(findings("").stream().filter(finding -> !finding.isWell()).map(Finding::subject))
        .containsExactly(
            "file descriptors",
            "net.core.somaxconn",
            "net.ipv4.ip_local_port_range",
            "available memory in MiB",
            "vm.overcommit_memory",
            "pages of cache.memory in KiB",
            "clock");
    assertThat(findings("").get(1).toString())
        .isEqualTo(
            "change  file descriptors: 2,199. Set LimitNOFILE=2200: each client may need a second"
                + " one, toward an origin.");
  }

  @Test
  void aDiskThatIsTooSmallIsFoundBeforeItIsFull() throws IOException {
    machine("2200", "4096", "10000\t10999", "999999999");
    assertThat(
            findings("cache: {disk: {path: '" + root + "/none/yet', capacity: 1000TiB}}").getLast())
        .matches(finding -> !finding.isWell() && finding.advice().contains("cache.disk.capacity"));
  }

  @Test
  void whatCannotBeReadIsNotJudged() {
    assertThat(findings("").stream().map(Finding::subject)).doesNotContain("net.core.somaxconn");
  }

  @Test
  void aCertificateThatEndsSoonOrCannotBeReadIsNamed() throws Exception {
    machine("2200", "4096", "10000\t10999", "999999999");
    Certificates.write(new Certificates("authority").ecdsa("a"), root, "a");
    String files = "{chain: '%s/a.pem', key: '%s/a.key'}".replace("%s", root.toString());
    String tls = ", tls: {certificates: [" + files + "]}";
    assertThat(troubles(findings(tls, ""))).containsExactly("Renew it: it is refused after that.");
    assertThat(troubles(findings("admin: {tls: {certificates: [" + files + "]}}")))
        .as("of the control plane")
        .containsExactly("Renew it: it is refused after that.");
    Files.delete(root.resolve("a.pem"));
    assertThat(troubles(findings(tls, ""))).containsExactly("Replace it.");
  }

  /** Root reads everything but below a link to itself. */
  @Test
  void whatThisUserCannotSeeIsToBeLookedAtAsRoot() throws Exception {
    machine("2200", "4096", "10000\t10999", "999999999");
    Files.createSymbolicLink(root.resolve("hidden"), Path.of("hidden"));
    String in = root + "/hidden/";
    String tls = ", tls: {certificates: [{chain: '" + in + "a.pem', key: '" + in + "a.key'}]}";
    String disk = "cache: {disk: {path: '" + in + "store', capacity: 1GiB}}";
    String asRoot = "Run kamille doctor as root: this user cannot look at it.";
    assertThat(troubles(findings(tls, disk))).containsExactly(asRoot, asRoot);
    running = Doctor.UNSEEN;
    assertThat(findings("").getFirst().found()).contains("as root", "limits are those of here");
    assertThat(Doctor.isHidden(root.resolve("hidden/admin.sock"))).isTrue();
    assertThat(Doctor.isHidden(root.resolve("none"))).isFalse();
  }

  private static List<String> troubles(List<Finding> findings) {
    return findings.stream().filter(finding -> !finding.isWell()).map(Finding::advice).toList();
  }
}
