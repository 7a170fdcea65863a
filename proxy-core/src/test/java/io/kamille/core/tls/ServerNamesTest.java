package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** A server name finds the exact entry, then its wildcard, then the default. */
class ServerNamesTest {

  private final ServerNames<String> names =
      new ServerNames<>(
          Map.of("a.example.org", "exact", "*.example.org", "wildcard", "other.test", "other"),
          "default");

  @Test
  void theExactNameWins() {
    assertThat(names.find("a.example.org")).isEqualTo("exact");
    assertThat(names.find("b.example.org")).isEqualTo("wildcard");
  }

  @Test
  void aWildcardStandsForOneLabel() {
    assertThat(names.find("a.b.example.org")).isEqualTo("default");
    assertThat(names.find("example.org")).isEqualTo("default");
    assertThat(names.find(".example.org")).isEqualTo("default");
  }

  @Test
  void whoeverNamesNoServerGetsTheDefault() {
    assertThat(names.find(null)).isEqualTo("default");
    assertThat(names.find("unknown")).isEqualTo("default");
  }
}
