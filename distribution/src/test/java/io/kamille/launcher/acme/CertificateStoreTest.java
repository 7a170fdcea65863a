package io.kamille.launcher.acme;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Sections;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What survives a process that dies while it writes. */
class CertificateStoreTest {

  @TempDir private Path directory;

  private CertificateStore store() {
    return store(directory);
  }

  private static CertificateStore store(Path directory) {
    return new CertificateStore(settings(directory), null);
  }

  private static AcmeSettings settings(Path directory) {
    return Sections.copy(
            Sections.of(
                AcmeSettings.SECTION,
                "{terms-agreed: on, directory: 'https://ca.corp.test/directory'}"))
        .with("store", directory)
        .record();
  }

  @Test
  void nodesShareAStoreByALinkToIt() throws IOException {
    Path all = Files.createDirectory(directory.resolve("all"));
    Path link = Files.createSymbolicLink(directory.resolve("acme"), all);
    assertThat(settings(link).isStoreShared()).isTrue();
    assertThat(settings(all).isStoreShared()).isFalse();
    assertThat(settings(directory.resolve("none")).isStoreShared()).isFalse();
    assertThat(settings(Path.of("/dev/shm")).isStoreShared()).as("a mount").isTrue();
    ServerCertificate one = store(link).save("a.test", issued("a.test"));
    assertThat(store(all).certificate("a.test", null))
        .extracting(ServerCertificate::chain)
        .isEqualTo(one.chain());
  }

  private static Issuer.Issued issued(String name) {
    return FakeIssuer.issue(name, Instant.now(), Duration.ofDays(1));
  }

  /** Where the process is killed, one step further each time. */
  @ParameterizedTest
  @ValueSource(strings = {"key", "key chain", "key chain link"})
  void aKillLeavesTheOldPairWholeAndTheNextOneCanBeWritten(String written) throws IOException {
    ServerCertificate old = store().save("a.test", issued("a.test"));
    Path of = directory.resolve("ca.corp.test/certificates/a.test");
    Files.createDirectory(of.resolve("2"));
    for (String part : written.split(" ", -1)) {
      if (part.equals("link")) {
        Files.createSymbolicLink(of.resolve("next"), Path.of("2"));
      } else {
        Files.writeString(of.resolve("2").resolve(part + ".pem"), "half of it");
      }
    }
    assertThat(store().certificate("a.test", null)).isEqualTo(old);
    ServerCertificate next = store().save("a.test", issued("a.test"));
    assertThat(store().certificate("a.test", null)).isEqualTo(next).isNotEqualTo(old);
  }

  @Test
  void thePairBeforeIsKeptAndOlderOnesGo() throws IOException {
    for (int i = 0; i < 4; i++) {
      store().save("*.a.test", issued("*.a.test"));
    }
    Path of = directory.resolve("ca.corp.test/certificates/_.a.test");
    try (var left = Files.list(of)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("live", "3", "4");
    }
  }

  @Test
  void oneProcessWritesUntilItDies() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var store = store()) {
      assertThat(other.inputReader().readLine()).isEqualTo("true");
      assertThat(store.lock()).isFalse();
      other.destroyForcibly().waitFor();
      assertThat(store.lock()).isTrue();
      assertThat(store.lock()).as("once more").isTrue();
    } finally {
      other.destroyForcibly();
    }
  }

  /** A process that holds the lock. */
  static final class Holder {

    public static void main(String... arguments) throws IOException {
      System.out.println(store(Path.of(arguments[0])).lock());
      System.in.read();
    }
  }
}
