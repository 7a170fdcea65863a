package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.SettingChange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ShippedConfigurationTest {

  static final Path FILE = Path.of("src", "main", "appliance", "conf", "kamille.yaml");

  @Test
  void itIsReadWithoutProblems() {
    assertThat(ConfigurationFile.read(FILE)).isInstanceOf(ConfigurationReading.Accepted.class);
  }

  @Test
  void theAccessLogIsOn() throws IOException {
    assertThat(configuration(Files.readString(FILE)).log().access().isEnabled()).isTrue();
  }

  /** What stands behind a # is either the default or an example, and these are the examples. */
  @Test
  void whatIsCommentedOutIsCurrentToo() throws IOException {
    String shipped = Files.readString(FILE);
    String all = shipped.replaceAll("(?m)^( *)# (?= *(- )?([a-z-]+:( |$)|http:))", "$1");
    assertThat(configuration(all).changesFrom(configuration(shipped)))
        .extracting(SettingChange::path)
        .containsExactlyInAnyOrder("loops", "upstreams.site.origins", "routes", "admin.token-file");
  }

  private static Configuration configuration(String text) {
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }
}
