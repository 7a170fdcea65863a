package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.names.LeasedOrigins.Lease;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import org.junit.jupiter.api.Test;

/** How long the API's origins last, and how many there may be. */
class LeasedOriginsTest {

  private final LeasedOrigins leased = new LeasedOrigins("app");

  @Test
  void aLeaseEndsInTimeUnlessItIsRenewed() {
    leased.put(lease(1, 100));
    leased.put(lease(2, 100));
    leased.put(lease(2, 200));
    leased.refresh(99);
    assertThat(leased.origins()).hasSize(2);
    assertThat(leased.untilNanos(url(2))).isEqualTo(200);
    leased.refresh(100);
    assertThat(leased.origins()).extracting(OriginSettings::url).containsExactly(url(2));
    assertThat(leased.untilNanos(url(1))).isEqualTo(OriginList.FOREVER);
  }

  @Test
  void aFloodIsRefusedAndRenewalsAreNot() {
    for (int i = 1; i <= 10_000; i++) {
      assertThat(leased.put(lease(i, 100))).isEqualTo(i <= LeasedOrigins.MOST);
    }
    assertThat(leased.put(lease(1, 200))).isTrue();
    assertThat(leased.origins()).hasSize(LeasedOrigins.MOST);
    assertThat(leased.remove(url(1))).isTrue();
    assertThat(leased.put(lease(9_999, 200))).isTrue();
  }

  private static Lease lease(int port, long untilNanos) {
    return new Lease(
        Sections.of(OriginSettings.SECTION, "url: 'http://10.0.0.1:%d'", port), untilNanos);
  }

  private static OriginUrl url(int port) {
    return new OriginUrl(false, "10.0.0.1", port);
  }
}
