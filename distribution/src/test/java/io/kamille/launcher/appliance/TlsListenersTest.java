package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerTls;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which certificates are in force after files and settings have changed. */
class TlsListenersTest {

  @TempDir private Path directory;
  private Instant now = Instant.parse("2026-11-29T10:00:00Z");
  private final ScheduledThreadPoolExecutor looks = new ScheduledThreadPoolExecutor(1);
  private final TlsListeners listeners = new TlsListeners(null, () -> now, looks);
  private Certificates authority;
  private ServerTls tls;

  @BeforeEach
  void open() throws Exception {
    authority = new Certificates("authority");
    write("a.test", "own");
    Configuration configuration = configuration("own");
    tls =
        Objects.requireNonNull(listeners.open(configuration.listeners().getFirst(), configuration));
  }

  @AfterEach
  void close() {
    listeners.close();
  }

  private void write(String host, String file) throws Exception {
    Certificates.write(authority.ecdsa(host), directory, file);
  }

  /** As it was read a moment ago: its files may be gone. */
  private Configuration configuration(String... files) {
    var certificates = new StringBuilder();
    for (String file : files) {
      certificates.append("{chain: D/F.pem, key: D/F.key},".replace("F", file));
    }
    String text =
        "listeners: [{address: '127.0.0.1:1', tls: {certificates: ["
            + certificates.toString().replace("D/", directory + "/")
            + "]}}]\nroutes: [{respond: 204}]\nadmin: {address: off}\n";
    return read(text);
  }

  private static Configuration read(String text) {
    return switch (ConfigurationFile.parseAlone("k", text.getBytes(UTF_8))) {
      case ConfigurationReading.Accepted(Configuration taken) -> taken;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  private String shown() {
    return String.join(",", tls.certificates().getFirst().names());
  }

  @Test
  void aReloadThatCannotUseACertificateIsRefusedAndChangesNothing() throws Exception {
    write("b.test", "own");
    assertThatIOException()
        .isThrownBy(() -> listeners.prepare(configuration("own", "none")))
        .withMessageContaining("none.pem: no file of this name");
    assertThat(shown()).isEqualTo("a.test");
    Runnable step = listeners.prepare(configuration("own"));
    Files.delete(directory.resolve("own.key"));
    assertThat(shown()).isEqualTo("a.test");
    step.run();
    assertThat(shown()).as("what was read").isEqualTo("b.test");
  }

  /** A file that hangs holds up these three, and no handshake. */
  @Test
  void whatMayWaitForAFileHasAThreadOfItsOwn() {
    assertThat(looks.getQueue()).hasSize(3);
  }

  @Test
  void ofManyCertificatesTheLogTellsTheNumber() {
    ServerCertificate own = tls.certificates().getFirst();
    assertThat(TlsListeners.told(nCopies(3, own))).hasToString("[%s, %s, %s]", own, own, own);
    assertThat(TlsListeners.told(nCopies(4, own))).hasToString("4 certificates");
    assertThat(TlsListeners.told(nCopies(10_000, own))).hasToString("10000 certificates");
  }

  @Test
  void aKeyWhoseModeIsMendedIsTakenAtTheNextLook() throws Exception {
    write("b.test", "own");
    Path key = directory.resolve("own.key");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    listeners.renew();
    assertThat(shown()).isEqualTo("a.test");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    listeners.renew();
    assertThat(shown()).isEqualTo("b.test");
  }

  @Test
  void aFileThatIsGoneForAMomentIsTakenOnceItIsBack() throws Exception {
    write("b.test", "own");
    Path key = directory.resolve("own.key");
    Path away = Files.move(key, directory.resolve("away"));
    listeners.renew();
    Files.move(away, key);
    listeners.renew();
    assertThat(shown()).isEqualTo("b.test");
  }

  @Test
  void whatTwoListenersShareIsTakenByBoth() throws Exception {
    String text =
        """
        listeners:
        - {address: '127.0.0.1:1', tls: {certificates: [{chain: D/own.pem, key: D/own.key}]}}
        - {address: '127.0.0.1:2', tls: {certificates: [{chain: D/own.pem, key: D/own.key}]}}
        routes: [{respond: 204}]
        admin: {address: off}
        """;
    Configuration configuration = read(text.replace("D/", directory + "/"));
    ServerTls other =
        Objects.requireNonNull(listeners.open(configuration.listeners().getLast(), configuration));
    write("b.test", "own");
    listeners.renew();
    assertThat(shown()).isEqualTo("b.test");
    assertThat(other.certificates().getFirst().names()).containsExactly("b.test");
  }

  @Test
  void aSelfSignedCertificateIsMadeAnewBeforeItEnds() throws Exception {
    ServerTls own = selfSigned();
    Instant end = own.expires();
    now = end.minus(Duration.ofDays(9));
    listeners.renew();
    assertThat(own.expires()).isEqualTo(end);
    now = end.minus(Duration.ofDays(7));
    listeners.renew();
    assertThat(own.expires()).isEqualTo(now.plus(Duration.ofDays(30)));
  }

  @Test
  void aSelfSignedCertificateIsMadeAnewAfterTheClockWasSetBack() throws Exception {
    ServerTls own = selfSigned();
    now = now.minus(Duration.ofDays(1));
    listeners.renew();
    assertThat(own.expires()).isEqualTo(now.plus(Duration.ofDays(30)));
  }

  private ServerTls selfSigned() throws Exception {
    Configuration configuration =
        read(
            """
            listeners: [{address: '127.0.0.1:2', tls: self-signed}]
            routes: [{respond: 204}]
            admin: {address: off}
            """);
    return Objects.requireNonNull(
        listeners.open(configuration.listeners().getFirst(), configuration));
  }
}
