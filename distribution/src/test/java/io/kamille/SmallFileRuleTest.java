package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What settings name is read by one reader, which no pipe, device or directory stops. */
class SmallFileRuleTest {

  private static final Pattern READ =
      Pattern.compile(
          "Files\\.(readString|readAllBytes|readAllLines|lines|newBufferedReader|newInputStream)\\(");

  /** They read files of the kernel, or those that Kamille alone writes in its own directories. */
  private static final Set<String> OTHERS =
      Set.of(
          // Of the kernel.
          "IdleProcessors",
          "KernelFile",
          "KernelLimits",
          "MemoryFile",
          "MemoryPressure",
          "Service",
          "SystemCalls",
          // Written by Kamille.
          "AuditLog",
          "CertificateStore",
          "ClusterPurges",
          "ConfigStore",
          "FileDraft",
          "MemberLog",
          "PlaceFile",
          "StateLock",
          "Successor",
          // A command, in front of a user who may give it a pipe.
          "ClusterDemo",
          "ClusterFiles",
          "ConfigCommand",
          "ConfigurationFile");

  @Test
  void smallFilesHaveOneReader() throws IOException {
    Set<String> readers = new TreeSet<>();
    for (String module : Set.of("proxy-core", "proxy-cluster", "proxy-admin", "distribution")) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src/main/java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          if (READ.matcher(Files.readString(file)).find()) {
            readers.add(file.getFileName().toString().replace(".java", ""));
          }
        }
      }
    }
    readers.removeAll(OTHERS);
    assertThat(readers).as("classes that read files in another way than SmallFile").isEmpty();
  }
}
