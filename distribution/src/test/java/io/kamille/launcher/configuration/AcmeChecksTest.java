package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Problem;
import io.kamille.core.tls.TlsSettings.Source;
import io.kamille.launcher.UserHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of certificates that are to be ordered, and for which names they are. */
class AcmeChecksTest {

  private static final String PUBLIC =
      "a name that everybody can look up, or acme.directory of your own authority";

  private static final String HOOK = "terms-agreed: on, dns-hook: [/bin/true]";

  @TempDir private Path directory;

  /** A file with these settings of the only listener with TLS, and of {@code acme}. */
  private String file(String tls, String acme) {
    return """
    listeners:
      - {address: ':80', redirect-to-https: 443}
      - address: ':443'
        tls: TLS
    acme: {MORE}
    upstreams: {web: {origins: ['http://127.0.0.1:9000']}}
    routes: [{upstream: web, host: shop.example.org}]
    """
        .replace("TLS", tls)
        .replace("MORE", acme);
  }

  private String file(String tls) {
    return file(tls, "terms-agreed: on");
  }

  private static Configuration accepted(String text) {
    return switch (ConfigurationFile.parse("k", text.getBytes(UTF_8))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  private static List<String> refused(String text) {
    var reading = ConfigurationFile.parse("k", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Refused.class);
    return ((ConfigurationReading.Refused) reading)
        .problems().stream().map(Problem::toString).toList();
  }

  @Test
  void oneWordAtAListenerAndTheTermsAreEnough() {
    Configuration configuration = accepted(file("acme"));
    assertThat(configuration.listeners().get(1).tls().source()).isEqualTo(Source.ACME);
    assertThat(configuration.orderedNames()).containsExactly("shop.example.org");
    assertThat(configuration.answersInClear()).isTrue();
    assertThat(configuration.warnings()).isEmpty();
  }

  @Test
  void namesComeFromTheRoutesWithoutPatternsUnlessTheListenerHasItsOwn() {
    String routes =
        """
        routes:
          - {upstream: web}
          - {upstream: web, host: '*.example.org'}
          - {upstream: web, host: B.example.org}
          - {upstream: web, host: a.example.org}
          - {upstream: web, host: a.example.org, path: /x}
          - {upstream: web, host: '[2001:DB8::1]'}
        """;
    String text = file("acme").replaceAll("(?m)^routes:.*\n", routes);
    assertThat(accepted(text).orderedNames())
        .containsExactly("b.example.org", "a.example.org", "2001:db8::1");
    text = text.replace("tls: acme", "tls: {source: acme, names: [Own.example.org, 192.0.2.7]}");
    assertThat(accepted(text).orderedNames()).containsExactly("own.example.org", "192.0.2.7");
  }

  @Test
  void eachListenerOrdersItsOwnAndOneOfAnotherKindNone() {
    String text =
        file("{source: acme, names: [a.example.org, b.example.org]}")
            .replace(
                "listeners:\n",
                """
                listeners:
                  - {address: ':8443', tls: {source: acme, names: [b.example.org]}}
                  - {address: ':9443', tls: self-signed}
                """);
    Configuration configuration = accepted(text);
    assertThat(configuration.orderedNames(configuration.listeners().getFirst()))
        .containsExactly("b.example.org");
    assertThat(configuration.orderedNames(configuration.listeners().get(1))).isEmpty();
    assertThat(configuration.orderedNames()).containsExactly("b.example.org", "a.example.org");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2001:db8::1", "[2001:DB8::1]", "2001:db8:0:0::1"})
  void anAddressIsWrittenInAnyWayAndMeansTheSame(String address) {
    Configuration configuration =
        accepted(file("{source: acme, names: [\"" + address + "\", '*.A.org']}", HOOK));
    assertThat(configuration.orderedNames()).containsExactly("2001:db8::1", "*.a.org");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a..org", "a b", "999.1.1.1", "1.2.3", "*", "*.", "a.*.org", "a:80", "::g"})
  void whatIsNoNameIsRefused(String name) {
    assertThat(refused(file("{source: acme, names: ['" + name + "']}")))
        .containsExactly(
            "k:4:33: listeners[1].tls.names[0]: found \""
                + name
                + "\", expected a host such as example.org, *.example.org in quotes, or an IP"
                + " address");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "shop",
        "shop.local",
        "a.b.internal",
        "localhost",
        "a.localhost",
        "a.test",
        "a.example",
        "nas.lan",
        "nas.home.arpa",
        "127.0.0.1",
        "10.1.2.3",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.1.1",
        "0.0.0.0",
        "'::1'",
        "'fe80::1'",
        "'fd00::1'"
      })
  void namesThatNobodyElseCanLookUpAreRefusedUnlessTheAuthorityIsOnesOwn(String name) {
    String tls = "{source: acme, names: [ok.example.org, \"" + name + "\"]}";
    assertThat(refused(file(tls)))
        .singleElement()
        .asString()
        .startsWith("k:4:32: listeners[1].tls.names: found \"")
        .endsWith("\", expected " + PUBLIC);
    assertThat(refused(file(tls, "terms-agreed: on, directory: staging"))).hasSize(1);
    accepted(file(tls, "terms-agreed: on, directory: 'https://ca.internal:14000/dir'"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Each line: settings of tls | settings of acme | the problem
        "acme | contact: a@b.org | 5:7: acme.terms-agreed: found \"off\", expected true, if you"
            + " agree to its terms",
        "acme | terms-agreed: off | 5:X: acme.terms-agreed: found \"off\", expected true, if you"
            + " agree to its terms",
        "'{source: acme, names: [\"*.example.org\"]}' | terms-agreed: on | 4:32:"
            + " listeners[1].tls.names: found \"*.example.org\", expected acme.dns-hook beside it,"
            + " because dns-01 alone proves it",
        "acme | 'terms-agreed: on, directory: http://ca.example.org/dir' | 5:X: acme.directory:"
            + " found \"http://ca.example.org/dir\", expected staging, or https://HOST/PATH",
        "acme | 'terms-agreed: on, contact: me' | 5:X: acme.contact: found \"me\", expected an"
            + " address of mail",
        "acme | 'terms-agreed: on, account-binding: {id: a}' | 5:X: acme.account-binding.id: found"
            + " \"a\", expected key-file beside it",
        "acme | 'terms-agreed: on, account-binding: {key-file: DIR/key}' | 5:X:"
            + " acme.account-binding.key-file: found \"DIR/key\", expected id beside it",
        "acme | 'terms-agreed: on, account-binding: {id: a, key-file: /no/key}' | 5:X:"
            + " acme.account-binding.key-file: found \"/no/key\", expected a file with a key"
            + " (/no/key: no file of this name)",
        "acme | 'terms-agreed: on, authority: /no/ca.pem' | 5:X: acme.authority: found"
            + " \"/no/ca.pem\", expected a file of certificates (/no/ca.pem: no file of this name)"
      })
  void whatCannotWorkIsAProblemAtItsPlace(String tls, String acme, String expected)
      throws IOException {
    Files.writeString(directory.resolve("key"), "a2V5\n");
    String given = acme.replace("DIR", directory.toString());
    assertThat(refused(file(tls, given)).stream().map(AcmeChecksTest::withoutColumnOfAcme).toList())
        .containsExactly("k:" + withoutColumnOfAcme(expected).replace("DIR", directory.toString()));
  }

  /** The column in the line of {@code acme} depends on the length of a temporary path. */
  private static String withoutColumnOfAcme(String problem) {
    return problem.replaceFirst("^((?:k:)?5):[^:]+:", "$1:");
  }

  @Test
  void withoutANameThereIsNothingToOrder() {
    String text = file("acme").replace(", host: shop.example.org", "");
    assertThat(refused(text))
        .containsExactly(
            "k:4:10: listeners[1].tls.names: found none, expected a name, or a route with a host");
    accepted(text.replace("tls: acme", "tls: {source: acme, names: [a.example.org]}"));
  }

  @Test
  void allProblemsAreSaidAtOnceInOrder() {
    String text =
        file("{source: acme, names: [shop, '*.example.org', 10.0.0.1]}", "authority: /no/ca.pem")
            + "admin: {tls: acme}\n";
    assertThat(refused(text))
        .extracting(problem -> problem.replaceFirst(", expected .*", ""))
        .extracting(AcmeChecksTest::withoutColumnOfAcme)
        .containsExactlyInAnyOrder(
            "k:4:32: listeners[1].tls.names: found \"shop\"",
            "k:4:32: listeners[1].tls.names: found \"*.example.org\"",
            "k:4:32: listeners[1].tls.names: found \"10.0.0.1\"",
            "k:5: acme.terms-agreed: found \"off\"",
            "k:5: acme.authority: found \"/no/ca.pem\"",
            "k:8:14: admin.tls.source: found \"acme\"");
  }

  @Test
  void wildcardsAreProvedByAHook() {
    Configuration configuration =
        accepted(file("{source: acme, names: ['*.example.org', example.org]}", HOOK));
    assertThat(configuration.orderedNames()).containsExactly("*.example.org", "example.org");
    accepted(file("{source: acme, names: [192.0.2.7]}", HOOK));
  }

  @Test
  void aListenerInClearTextMayBeMissing() {
    accepted(file("acme").replace("  - {address: ':80', redirect-to-https: 443}\n", ""));
  }

  @Test
  void theControlPlaneOrdersNone() {
    assertThat(refused(file("acme") + "admin: {tls: acme}\n"))
        .containsExactly(
            "k:8:14: admin.tls.source: found \"acme\", expected files, self-signed or off");
  }

  @Test
  void withoutAListenerThatOrdersNothingIsAsked() {
    try (var _ = new UserHome("/proc/version")) {
      Configuration configuration =
          accepted(
              file("acme")
                  .replace("tls: acme", "tls: self-signed")
                  .replace("terms-agreed: on", "authority: /no/ca.pem"));
      assertThat(configuration.orderedNames()).isEmpty();
      assertThat(configuration.warnings()).isEmpty();
    }
  }

  @Test
  void theStateDirectoryMustBeWritableBeforeAnythingIsOrdered() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    stateIsRefused(file.toString(), "is no directory");
    stateIsRefused("/proc", "no permission"); // Where not even root writes, whatever its mode says.
    stateIsRefused("?", "no home directory: name a directory for state by STATE_DIRECTORY");
    try (var _ = new UserHome(directory.resolve("not/there/yet").toString())) {
      accepted(file("acme"));
    }
    assertThat(directory.resolve("not")).as("a check leaves no traces").doesNotExist();
  }

  private void stateIsRefused(String home, String why) {
    try (var _ = new UserHome(home)) {
      assertThat(refused(file("acme")))
          .singleElement()
          .asString()
          .startsWith(
              "k:4:10: listeners[1].tls.source: found \"acme\", expected a state directory that can"
                  + " be written (")
          .contains(why);
    }
  }

  @Test
  void portsThatAuthoritiesDoNotAskAtAreAWarning() {
    String text = file("acme").replace(":80'", ":8080'");
    accepted(text);
    assertThat(accepted(text).warnings()).isEmpty();
    text = text.replace(":443'", ":8443'");
    assertThat(accepted(text).warnings())
        .containsExactly(
            "acme: authorities ask at ports 443 and 80, and no listener has one of them: something"
                + " has to lead from there to here");
    assertThat(accepted(text.replace(":8080'", ":80'")).warnings()).isEmpty();
    assertThat(accepted(text.replace("tls: acme", "tls: self-signed")).warnings()).isEmpty();
  }
}
