package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.names.RegisteredOrigins.Registration;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import org.junit.jupiter.api.Test;

/** How long the API's origins last, and how many there may be. */
class RegisteredOriginsTest {

  private final RegisteredOrigins registered = new RegisteredOrigins("app");

  @Test
  void aRegistrationEndsInTimeUnlessItIsRenewed() {
    registered.put(registration(1, 100));
    registered.put(registration(2, 100));
    registered.put(registration(2, 200));
    registered.refresh(99);
    assertThat(registered.origins()).hasSize(2);
    assertThat(registered.untilNanos(url(2))).isEqualTo(200);
    registered.refresh(100);
    assertThat(registered.origins()).extracting(OriginSettings::url).containsExactly(url(2));
    assertThat(registered.untilNanos(url(1))).isEqualTo(OriginList.FOREVER);
  }

  @Test
  void aFloodIsRefusedAndRenewalsAreNot() {
    for (int i = 1; i <= 10_000; i++) {
      assertThat(registered.put(registration(i, 100))).isEqualTo(i <= RegisteredOrigins.MOST);
    }
    assertThat(registered.put(registration(1, 200))).isTrue();
    assertThat(registered.origins()).hasSize(RegisteredOrigins.MOST);
    assertThat(registered.remove(url(1))).isTrue();
    assertThat(registered.put(registration(9_999, 200))).isTrue();
  }

  private static Registration registration(int port, long untilNanos) {
    return new Registration(
        Sections.of(OriginSettings.SECTION, "url: 'http://10.0.0.1:%d'", port), untilNanos);
  }

  private static OriginUrl url(int port) {
    return new OriginUrl(false, "10.0.0.1", port);
  }
}
