package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Problem;
import io.kamille.core.tls.ClusterAuthority;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a start needs, a check reads: with a file that is missing, garbage, a directory or a pipe.
 */
@Timeout(30)
class FileChecksTest {

  private static final String ADMIN = "admin: {address: 127.0.0.1:0, ";
  private static final String ACME =
      "listeners: [{address: '127.0.0.1:0', tls: acme}] ~ "
          + "acme: {directory: 'https://ca.corp/d', terms-agreed: on, ";

  @TempDir private Path directory;

  @BeforeEach
  void writeFiles() throws Exception {
    var authority = ClusterAuthority.create("c", Instant.now());
    ServerCertificate own = ClusterAuthority.sign(authority, "a", "a.test", Instant.now());
    ServerCertificate other = ClusterAuthority.sign(authority, "b", "b.test", Instant.now());
    write("ca.pem", PemFile.text(authority.chain()));
    write("own.pem", PemFile.text(own.chain()));
    write(
        "reversed.pem",
        PemFile.text(List.of(authority.chain().getFirst(), own.chain().getFirst())));
    write("own.key", PemFile.text(List.of(own.key())));
    write("other.key", PemFile.text(List.of(other.key())));
    write("garbage", "garbage\0\n");
    write("hook", "#!/bin/sh\n");
    Files.createDirectory(directory.resolve("dir"));
    assertThat(new ProcessBuilder("mkfifo", directory + "/pipe").start().waitFor()).isZero();
  }

  private void write(String name, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(name), text);
    file.toFile().setReadable(false, false);
    file.toFile().setReadable(true, true);
  }

  private ConfigurationReading read(String text) {
    String all = text.replace("DIR", directory.toString()).replace(" ~ ", "\n");
    all += all.contains("listeners:") ? "" : "\nlisteners: ['127.0.0.1:0']";
    all += "\nroutes: [{host: a.test, respond: 204}]\n";
    return ConfigurationFile.parse(directory + "/k.yaml", all.getBytes(UTF_8));
  }

  private static String listener(String tls) {
    return "listeners: [{address: '127.0.0.1:0', tls: {" + tls + "}}]";
  }

  @Test
  void whatAStartCanUseIsRight() {
    String authorities = ", client-certificates: required, client-authorities: DIR/ca.pem";
    for (String text :
        List.of(
            listener("certificates: [{chain: DIR/own.pem, key: DIR/own.key}]" + authorities),
            listener("source: self-signed"),
            ADMIN + "tls: {certificates: [{chain: DIR/own.pem, key: DIR/own.key}]}}",
            ADMIN + "token-file: DIR/new/token}",
            "log: {access: {output: DIR/access.log}}",
            "cache: {disk: {path: DIR/new/disk, capacity: 1GiB}}",
            ACME + "authority: DIR/ca.pem}",
            ACME + "dns-hook: [env, x]}")) {
      assertThat(read(text)).as(text).isInstanceOf(ConfigurationReading.Accepted.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "certificates: [{chain: FILE, key: DIR/own.key}] | own.pem",
        "certificates: [{chain: DIR/own.pem, key: FILE}] | own.key",
        "certificates: [{chain: DIR/own.pem, key: DIR/own.key}], client-certificates: optional,"
            + " client-authorities: FILE | ca.pem"
      })
  void certificatesOfListenersAndOfTheControlPlaneAreRead(String tls, String right) {
    for (String file : List.of("none", "garbage", "dir", "pipe", "own.pem", "other.key")) {
      String wrong = tls.replace("FILE", "DIR/" + file);
      boolean isUsable = tls.contains("client-authorities") && file.equals("own.pem");
      if (!file.equals(right) && !isUsable) {
        assertRefused(listener(wrong), "listeners[0].tls.");
        assertRefused(ADMIN + "tls: {" + wrong + "}}", "admin.tls.");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"garbage, own.key, chain", "own.pem, garbage, key", "own.pem, other.key, key"})
  void aProblemOfACertificateNamesTheSettingOfTheFile(String chain, String key, String setting) {
    assertRefused(
        listener("certificates: [{chain: DIR/" + chain + ", key: DIR/" + key + "}]"),
        "listeners[0].tls.certificates[0]." + setting);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "log: {access: {output: FILE}} | log.access.output | dir none/below garbage/below",
        "cache: {disk: {path: FILE, capacity: 1GiB}} | cache.disk.path | garbage garbage/below"
            + " pipe",
        ADMIN + "token-file: FILE} | admin.token-file | garbage garbage/below pipe dir",
        ACME + "authority: FILE} | acme.authority | none garbage dir pipe",
        ACME
            + "account-binding: {id: a, key-file: FILE}} | acme.account-binding.key-file |"
            + " none garbage dir pipe",
        ACME + "dns-hook: [FILE]} | acme.dns-hook | none hook dir pipe"
      })
  void whatElseAStartNeedsIsLookedAt(String text, String path, String files) {
    for (String file : files.strip().split(" ", -1)) {
      assertRefused(text.replace("FILE", "DIR/" + file), path);
    }
  }

  private void assertRefused(String text, String path) {
    assertThat(read(text))
        .as(text)
        .isInstanceOfSatisfying(
            ConfigurationReading.Refused.class,
            refused ->
                assertThat(refused.problems())
                    .singleElement()
                    .extracting(Problem::path)
                    .asString()
                    .startsWith(path));
  }

  @Test
  void aCheckWritesNothing() throws IOException {
    read(ACME + "authority: DIR/ca.pem}");
    read(ADMIN + "token-file: DIR/new/token}");
    read("log: {access: {output: DIR/access.log}}");
    try (Stream<Path> all = Files.list(directory)) {
      assertThat(all.map(path -> path.getFileName().toString()))
          .doesNotContain("store", "new", "access.log");
    }
  }

  @Test
  void aChainThatBeginsWithItsAuthorityIsToldAsThat() {
    String tls = "certificates: [{chain: DIR/reversed.pem, key: DIR/own.key}]";
    assertThat(((ConfigurationReading.Refused) read(listener(tls))).problems())
        .singleElement()
        .asString()
        .contains("the certificate of the key stands behind another one");
  }

  @Test
  void aConfigurationOfThePastNeedsNoFiles() {
    String text = listener("certificates: [{chain: /no/c, key: /no/k}]") + "\ninclude: [no.yaml]\n";
    text += "routes: [{root: /no, auth: {basic: {users-file: /no}}}]\n";
    assertThat(ConfigurationFile.parseAlone("k", text.getBytes(UTF_8)))
        .isInstanceOf(ConfigurationReading.Accepted.class);
  }
}
