package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.setting.SettingChange;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ConfigurationReloadTest {

  private static final Configuration RUNNING =
      configuration(
          """
          listeners: [":80"]
          upstreams:
            web: {origins: ["http://a"]}
            old: {origins: ["http://b"]}
          routes: [{upstream: web}]
          """);

  private static final Configuration NEXT =
      configuration(
          """
          listeners: [":80", ":81"]
          upstreams:
            web: {origins: ["http://a", "http://c"], connect-timeout: 250ms}
            new: {origins: ["http://b"]}
          routes: [{upstream: web, host: example.org}]
          cache: {memory: {capacity: 1GiB}}
          limits: {head-size: 50KiB}
          """);

  @Test
  void everyChangeIsNamedWithBothValues() {
    assertThat(NEXT.changesFrom(RUNNING))
        .extracting(SettingChange::toString)
        .containsExactly(
            "listeners: a list of 1 → a list of 2 (after a restart)",
            "upstreams.old: present → absent",
            "upstreams.web.origins: a list of 1 → a list of 2",
            "upstreams.web.connect-timeout: 1s → 250ms",
            "upstreams.new: absent → present",
            "routes[0].host: absent → example.org",
            "cache.memory.capacity: 256MiB → 1GiB (after a restart)",
            "cache.max-object-size: 32MiB → 128MiB (after a restart)",
            "limits.head-size: 32KiB → 50KiB");
  }

  @Test
  void sameSettingsHaveNoChanges() {
    assertThat(RUNNING.changesFrom(RUNNING)).isEmpty();
  }

  @Test
  void anUpstreamMayMoveInTheFile() {
    var moved =
        configuration(
            """
            routes: [{upstream: web}]
            listeners: [{address: ":80"}]
            upstreams:
              old: {origins: [{url: "http://b", weight: 1}]}
              web: {origins: ["http://a"]}
            """);
    assertThat(moved.changesFrom(RUNNING)).isEmpty();
  }

  @Test
  void aReloadKeepsWhatNeedsARestart() {
    Configuration reloaded = NEXT.reloadedOver(RUNNING);
    assertThat(reloaded.listeners()).isEqualTo(RUNNING.listeners());
    assertThat(reloaded.cache()).isEqualTo(RUNNING.cache());
    assertThat(reloaded.routes()).isEqualTo(NEXT.routes());
    assertThat(reloaded.limits().connection().head().headBytes()).isEqualTo(50 << 10);
    assertThat(reloaded.upstream("web").settings().connectTimeout())
        .isEqualTo(Duration.ofMillis(250));
  }

  @Test
  void whatWaitsForARestartIsNamedAgainAtTheNextReload() {
    assertThat(NEXT.changesFrom(NEXT.reloadedOver(RUNNING)))
        .extracting(SettingChange::path)
        .containsExactly("listeners", "cache.memory.capacity", "cache.max-object-size");
  }

  @Test
  void noChangeShowsASecretOfARequestField() {
    String text =
        """
        listeners: [":80"]
        upstreams: {web: {origins: ["http://a"]}}
        routes:
          - upstream: web
            request-headers: {set: {Authorization: "Bearer ONE", X-Shop: "ONE"}}
        """;
    assertThat(configuration(text.replace("ONE", "two")).changesFrom(configuration(text)))
        .extracting(SettingChange::toString)
        .containsExactly(
            "routes[0].request-headers.set.Authorization.value: a secret → a secret",
            "routes[0].request-headers.set.X-Shop.value: ONE → two");
  }

  @Test
  void aListReloadsWhatNeedsNoRestartIfNothingElseInItDiffers() {
    var running = listening("{address: \":80\"}, {address: \":81\"}");
    var denied = listening("{address: \":80\"}, {address: \":81\", access: {deny: [10.0.0.0/8]}}");
    assertThat(denied.changesFrom(running))
        .extracting(SettingChange::toString)
        .containsExactly("listeners[1].access.deny:  → 10.0.0.0/8");
    assertThat(denied.reloadedOver(running).listeners()).isEqualTo(denied.listeners());
  }

  @Test
  void aListStaysWholeIfSomethingInItNeedsARestart() {
    var running = listening("{address: \":80\"}, {address: \":81\"}");
    var swapped = listening("{address: \":81\", access: {deny: [10.0.0.0/8]}}, {address: \":80\"}");
    assertThat(swapped.changesFrom(running)).allMatch(SettingChange::needsRestart).hasSize(3);
    assertThat(swapped.reloadedOver(running).listeners()).isEqualTo(running.listeners());
  }

  @Test
  void whatNeedsARestartHoldsNothingElseOfItsListenerBack() {
    var running = listening("{address: \":80\", tls: {source: self-signed, profile: modern}}");
    var next =
        listening(
            "{address: \":80\", protocols: [h2], access: {deny: [10.0.0.0/8]}, tls: {source:"
                + " off}}");
    assertThat(next.changesFrom(running))
        .extracting(SettingChange::toString)
        .containsExactly(
            "listeners[0].access.deny:  → 10.0.0.0/8",
            "listeners[0].protocols: absent → h2 (after a restart)",
            "listeners[0].tls.source: self-signed → off (after a restart)",
            "listeners[0].tls.profile: modern → intermediate (after a restart)");
    ListenerSettings reloaded = next.reloadedOver(running).listeners().getFirst();
    assertThat(reloaded.access()).isEqualTo(next.listeners().getFirst().access());
    assertThat(reloaded.tls()).isEqualTo(running.listeners().getFirst().tls());
    assertThat(reloaded.protocols()).isNull();
    assertThat(next.changesFrom(next.reloadedOver(running))).hasSize(3);
  }

  @Test
  void aDefaultThatFollowsFromOtherValuesWaitsForTheRestartToo() {
    String text = "listeners: [':80']\nroutes: [{respond: 204}]\n";
    String tls = "admin: {tls: {certificates: [{chain: a.pem, key: a.key}]}}\n";
    Configuration next = configuration(text + tls);
    Configuration reloaded = next.reloadedOver(configuration(text));
    assertThat(reloaded.admin().tls().isOn()).isFalse();
    assertThat(next.changesFrom(reloaded))
        .extracting(SettingChange::toString)
        .containsExactly("admin.tls.source: off → files (after a restart)");
  }

  private static Configuration listening(String listeners) {
    return configuration(
        "listeners: ["
            + listeners
            + "]\nupstreams: {web: {origins: [\"http://a\"]}}\nroutes: [{upstream: web}]\n");
  }

  private static Configuration configuration(String text) {
    return switch (ConfigurationFile.parseAlone("kamille.yaml", text.getBytes(UTF_8))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }
}
