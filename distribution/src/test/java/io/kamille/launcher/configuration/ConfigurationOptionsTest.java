package io.kamille.launcher.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.TlsSettings.Source;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationOptionsTest {

  private static final List<String> OPTIONS =
      List.of("--listen", "--origin", "--admin", "--memory", "--loops", "--pacing", "--tls");

  /** The values of these options, in their order; nulls for those that are not there. */
  private static ConfigurationReading parse(@Nullable String... values) {
    Map<String, String> words = new HashMap<>();
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null) {
        words.put(OPTIONS.get(i), values[i]);
      }
    }
    return ConfigurationOptions.parse(words);
  }

  @Test
  void twoAddressesAreAConfiguration() {
    var reading = parse("127.0.0.1:8080", "http://127.0.0.1:9000", null, null, null, null, null);
    Configuration configuration = ((ConfigurationReading.Accepted) reading).configuration();
    assertThat(configuration.listeners().getFirst().address())
        .isEqualTo(new HostPort("127.0.0.1", 8080));
    assertThat(configuration.upstream("origin").origins())
        .containsExactly(Sections.of(OriginSettings.SECTION, "url: 'http://127.0.0.1:9000'"));
    assertThat(configuration.routes())
        .containsExactly(
            Sections.copy(RouteSettings.SECTION.defaults()).with("upstream", "origin").record());
    assertThat(configuration.cache().memory().capacityBytes()).isEqualTo(256L << 20);
    assertThat(configuration.admin().address()).contains(new HostPort("127.0.0.1", 9090));
  }

  @Test
  void aDirectoryMayStandInPlaceOfAnOrigin(@TempDir Path root) {
    var reading = parse(":8080", root.toString(), null, null, null, null, null);
    Configuration configuration = ((ConfigurationReading.Accepted) reading).configuration();
    assertThat(configuration.upstreams()).isEmpty();
    assertThat(configuration.routes().getFirst().actions().root()).isEqualTo(root);
  }

  @Test
  void memoryAdminLoopsAndPacingMayBeGiven() {
    var reading = parse(":8080", "http://a", "off", "1GiB", "3", "500us", null);
    Configuration configuration = ((ConfigurationReading.Accepted) reading).configuration();
    assertThat(configuration.cache().memory().capacityBytes()).isEqualTo(1L << 30);
    assertThat(configuration.admin().address()).isEmpty();
    assertThat(configuration.loops()).isEqualTo(3);
    assertThat(configuration.engine()).isEqualTo(PaceSettings.fixed(500_000));
  }

  @Test
  void everyWrongWordIsNamedByItsOption() {
    var reading = parse("8080", "a:9000", "x", "much", "none", "fast", null);
    assertThat(((ConfigurationReading.Refused) reading).problems())
        .extracting(Problem::toString)
        .containsExactly(
            "command line: --listen: found \"8080\", expected HOST:PORT with a port of 1–65535",
            "command line: --loops: found \"none\", expected a whole number of 1–1024",
            "command line: --pacing: found \"fast\", expected a duration of 50us–100ms such as"
                + " 250ms, 30s, 5m or 1h, or off, or adaptive",
            "command line: --origin: found \"a:9000\", expected http://HOST[:PORT] or"
                + " https://HOST[:PORT] with nothing behind it",
            "command line: --memory: found \"much\", expected a size of 1MiB–16TiB in KiB, MiB, GiB"
                + " or TiB",
            "command line: --admin: found \"x\", expected HOST:PORT with a port of 1–65535, or"
                + " off");
  }

  /** These options and their values in turn, beside an origin. */
  private static ConfigurationReading withAcme(String... more) {
    Map<String, String> words = new HashMap<>();
    words.put("--origin", "http://127.0.0.1:9000");
    words.put("--tls", "acme");
    for (int i = 0; i < more.length; i += 2) {
      words.put(more[i], more[i + 1]);
    }
    return ConfigurationOptions.parse(words);
  }

  private static Configuration accepted(ConfigurationReading reading) {
    return switch (reading) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  @Test
  void aNameAndTheTermsAreHttpsAndAListenerThatLeadsToIt() {
    Configuration configuration =
        accepted(
            withAcme("--listen", ":443", "--name", "a.org,B.org", "--acme-terms-agreed", "true"));
    assertThat(configuration.orderedNames()).containsExactly("a.org", "b.org");
    assertThat(configuration.acme().termsAgreed()).isTrue();
    assertThat(configuration.listeners())
        .extracting(ListenerSettings::address, ListenerSettings::redirectPort)
        .containsExactly(tuple(new HostPort("", 443), 0), tuple(new HostPort("", 80), 443));
    assertThat(configuration.listeners().getFirst().tls().source()).isEqualTo(Source.ACME);
    assertThat(configuration.listeners().getLast().tls().isOn()).isFalse();
    assertThat(configuration.answersInClear()).isTrue();
    assertThat(configuration.warnings()).isEmpty();
  }

  @Test
  void theListenerInClearTextIsBesideItAndLeadsToItsPort() {
    Configuration configuration =
        accepted(
            withAcme(
                "--listen", "192.0.2.7:8443", "--name", "a.org", "--acme-terms-agreed", "true"));
    assertThat(configuration.listeners().getLast().address())
        .isEqualTo(new HostPort("192.0.2.7", 80));
    assertThat(configuration.listeners().getLast().redirectPort()).isEqualTo(8443);
  }

  @Test
  void theListenerInClearTextMayBeLeftOut() {
    String[] words = {
      "--listen", ":443", "--name", "a.org", "--acme-terms-agreed", "true", "--no-http", "true"
    };
    Configuration configuration = accepted(withAcme(words));
    assertThat(configuration.listeners()).hasSize(1);
    assertThat(configuration.answersInClear()).isFalse();
    words[1] = ":8443";
    assertThat(accepted(withAcme(words)).warnings()).hasSize(1);
  }

  @Test
  void whatIsMissingForAnOrderIsSaid() {
    assertThat(((ConfigurationReading.Refused) withAcme("--listen", ":443")).problems())
        .extracting(Problem::toString)
        .containsExactlyInAnyOrder(
            "command line: acme.terms-agreed: found \"off\", expected true, if you agree to its"
                + " terms",
            "command line: listeners[0].tls.names: found none, expected a name, or a route with a"
                + " host");
    var local = withAcme("--listen", ":443", "--name", "a.org,shop", "--acme-terms-agreed", "true");
    assertThat(((ConfigurationReading.Refused) local).problems())
        .singleElement()
        .asString()
        .contains("found \"shop\"");
  }
}
