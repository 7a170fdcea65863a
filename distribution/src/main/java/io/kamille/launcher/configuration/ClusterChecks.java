package io.kamille.launcher.configuration;

import io.kamille.admin.StateDirectory;
import io.kamille.cluster.engine.JGroupsEngine;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.ClusterSettings.ConfigChoice;
import io.kamille.cluster.settings.ClusterSettings.Discovery;
import io.kamille.cluster.settings.PeerSettings;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Problems.Reader;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.Subsection;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** What must be true of a cluster, and that there is nothing of one without its name. */
record ClusterChecks(SectionValues cluster, Problems problems) {

  private static final int LEAST_SECRET_OCTETS = 32;
  private static final String CERTIFICATES = "a file of certificates that can be used";
  private static final String KEY = "the key of the certificate";

  void run() {
    if (cluster.isGiven(ClusterSettings.NAME)) {
      whoDecides();
      whereTheOthersAre();
      filesCanBeUsed();
      if (cluster.value(ClusterSettings.CONFIG) == ConfigChoice.SHARED) {
        standsInAFileOfThisNode(cluster, ClusterSettings.NODE);
        standsInAFileOfThisNode(cluster, ClusterSettings.ADDRESS);
        standsInAFileOfThisNode(cluster.one(ClusterSettings.PEERS), PeerSettings.ADDRESS);
      }
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
      if (problems.readsFiles()
          && !before.isEmpty()
          && !Set.copyOf(before).equals(Set.copyOf(voters))) {
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
        && !problems.hasRefused(discovery.path())) {
      problems.conflict(discovery, "none", "hosts or dns");
    }
  }

  /** All nodes have one text, in which nothing can differ. */
  private void standsInAFileOfThisNode(SectionValues section, Setting<?> setting) {
    if (section.isGiven(setting) && section.position(setting).file().isEmpty()) {
      problems.conflict(
          section,
          setting,
          "it in the file that all nodes share",
          "it in an included file of this node, such as node.yaml, or cluster.config: local");
    }
  }

  private void filesCanBeUsed() {
    SectionValues tls = cluster.one(ClusterSettings.TLS);
    boolean hasCertificate =
        canBeRead(tls, ClusterSettings.Files.CERTIFICATE, CERTIFICATES, PemFile::certificates);
    if (canBeRead(tls, ClusterSettings.Files.KEY, KEY, PemFile::privateKey) && hasCertificate) {
      Path certificate = tls.value(ClusterSettings.Files.CERTIFICATE);
      canBeRead(
          tls, ClusterSettings.Files.KEY, KEY, key -> ServerCertificate.read(certificate, key));
    }
    canBeRead(tls, ClusterSettings.Files.CA, CERTIFICATES, PemFile::certificates);
    canBeRead(
        cluster,
        ClusterSettings.SECRET_FILE,
        "a file of " + LEAST_SECRET_OCTETS + " octets or more",
        ClusterChecks::secret);
  }

  private static byte[] secret(Path file) throws IOException {
    byte[] secret = SmallFile.read(file, ClusterSecret.MOST_OCTETS);
    if (secret.length < LEAST_SECRET_OCTETS) {
      throw new IOException(secret.length + " octets");
    }
    return secret;
  }

  private boolean canBeRead(
      SectionValues section, Setting<Path> setting, String expected, Reader<Path> reader) {
    return isThere(section, setting, expected)
        && problems.readable(section, setting, expected, reader);
  }

  /** What was refused was there. */
  private boolean isThere(SectionValues section, Setting<?> setting, String expected) {
    if (!section.isGiven(setting) && !problems.hasRefused(section.path(setting))) {
      problems.conflict(section, setting, "none", expected);
    }
    return section.isGiven(setting);
  }
}
