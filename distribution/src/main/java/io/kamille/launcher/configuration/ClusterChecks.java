package io.kamille.launcher.configuration;

import io.kamille.admin.StateDirectory;
import io.kamille.cluster.engine.JGroupsEngine;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.ClusterSettings.Discovery;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** What must be true of a cluster, and that there is nothing of one without its name. */
record ClusterChecks(SectionValues cluster, Problems problems) {

  private static final int LEAST_SECRET_OCTETS = 32;

  void run() {
    if (cluster.isGiven(ClusterSettings.NAME)) {
      whoDecides();
      whereTheOthersAre();
      filesCanBeUsed();
    } else if (!problems.hasRefused(cluster.path(ClusterSettings.NAME))) {
      nothingIsGiven(cluster);
    }
  }

  private void nothingIsGiven(SectionValues section) {
    for (Member member : section.section().members()) {
      if (member instanceof Subsection<?> inside) {
        section.all(inside).forEach(this::nothingIsGiven);
      } else if (member instanceof Setting<?> setting && section.isGiven(setting)) {
        problems.conflict(section, setting, "cluster.name beside it");
      }
    }
  }

  private void whoDecides() {
    String node = cluster.find(ClusterSettings.NODE);
    if (node != null && ClusterSettings.NODE.type().parse(node) == null) {
      problems.conflict(
          cluster, ClusterSettings.NODE, "a name of at most 64 letters, digits and -_.");
    }
    if (isThere(cluster, ClusterSettings.VOTERS, "names of nodes, an odd number of them")) {
      List<String> voters = cluster.value(ClusterSettings.VOTERS);
      if (voters.size() % 2 == 0 || Set.copyOf(voters).size() < voters.size()) {
        problems.conflict(cluster, ClusterSettings.VOTERS, "an odd number of names that differ");
      }
      List<String> before = JGroupsEngine.voters(StateDirectory.path().resolve("cluster/log"));
      if (!before.isEmpty() && !Set.copyOf(before).equals(Set.copyOf(voters))) {
        problems.conflict(
            cluster, ClusterSettings.VOTERS, before + ", whose votes the log of this node has");
      }
    }
  }

  private void whereTheOthersAre() {
    String expected = "HOST:PORT by which the other nodes reach this one";
    if (isThere(cluster, ClusterSettings.ADDRESS, expected)) {
      HostPort address = cluster.value(ClusterSettings.ADDRESS);
      if (address.isWildcard()) {
        problems.conflict(cluster, ClusterSettings.ADDRESS, expected);
      }
    }
    SectionValues discovery = cluster.one(ClusterSettings.DISCOVERY);
    if (discovery.printed(Discovery.HOSTS).isEmpty()
        && !discovery.isGiven(Discovery.DNS)
        && !discovery.isGiven(Discovery.SRV)
        && !problems.hasRefused(discovery.path())) {
      problems.conflict(discovery, "none", "hosts, dns or srv");
    }
  }

  private void filesCanBeUsed() {
    SectionValues tls = cluster.one(ClusterSettings.TLS);
    boolean hasCertificate = canBeRead(tls, ClusterSettings.Files.CERTIFICATE, 1);
    if (canBeRead(tls, ClusterSettings.Files.KEY, 1) && hasCertificate) {
      Path certificate = tls.value(ClusterSettings.Files.CERTIFICATE);
      Path key = tls.value(ClusterSettings.Files.KEY);
      problems.readable(
          tls,
          ClusterSettings.Files.KEY,
          "the key of the certificate",
          () -> ServerCertificate.read(certificate, key));
    }
    canBeRead(tls, ClusterSettings.Files.CA, 1);
    canBeRead(cluster, ClusterSettings.SECRET_FILE, LEAST_SECRET_OCTETS);
  }

  private boolean canBeRead(SectionValues section, Setting<Path> setting, int leastOctets) {
    String expected =
        leastOctets == 1
            ? "a file that can be read"
            : "a file of " + leastOctets + " octets or more that can be read";
    if (!isThere(section, setting, expected)) {
      return false;
    }
    try (var in = Files.newInputStream(section.value(setting))) {
      if (in.readNBytes(leastOctets).length == leastOctets) {
        return true;
      }
    } catch (IOException refused) {
      // As one that is too short.
    }
    problems.conflict(section, setting, expected);
    return false;
  }

  /** What was refused was there. */
  private boolean isThere(SectionValues section, Setting<?> setting, String expected) {
    if (!section.isGiven(setting) && !problems.hasRefused(section.path(setting))) {
      problems.conflict(section, setting, "none", expected);
    }
    return section.isGiven(setting);
  }
}
