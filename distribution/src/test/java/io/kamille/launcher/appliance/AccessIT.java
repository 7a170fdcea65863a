package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who may connect and who may use a route, through a whole appliance. */
class AccessIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void aRouteIsForItsClientsWhateverIsStored() throws Exception {
    journey
        .with(
            "routes: [{upstream: site},"
                + " {upstream: site, path: /admin, access: {allow: [192.0.2.0/24]},"
                + " cache: {bypass-paths: [/admin/live]}}]")
        .origin()
        .on("/", ok("open"));
    for (String path : new String[] {"/admin", "/admin/live", "//%61dmin/x", "/x/../admin"}) {
      Answer answer = journey.get(path);
      assertThat(answer.status()).as(path).isEqualTo(403);
      assertThat(answer.field("Proxy-Status"))
          .isEqualTo(
              "kamille; error=http_request_denied; details=\"this client is not let in here\"");
      assertThat(answer.field("Cache-Status")).isEqualTo("kamille; detail=refused");
    }
    assertThat(journey.admin("/v1/requests").body()).contains("\"route\":\"*/admin\"");
    assertThat(journey.get("/").content()).isEqualTo("open");
    assertThat(journey.origin().requests()).hasSize(1);
  }

  @Test
  void whatBypassesTheCacheOfOneRoutePassesByNoOther() {
    journey.with(
        "routes: [{upstream: site, cache: {bypass-paths: [/admin, /admin/live]}},"
            + " {upstream: site, path: /admin, access: {allow: [192.0.2.0/24]}}]");
    assertThat(journey.get("/admin").status()).isEqualTo(403);
    assertThat(journey.get("/admin/live").status()).isEqualTo(403);
  }

  @Test
  void aReloadChangesWhoMayConnectAndKeepsWhoIsThere() {
    journey.origin().on("/", ok("open"));
    var before = journey.client();
    assertThat(before.get("/").answer().content()).isEqualTo("open");
    journey.with("listeners: [{address: '127.0.0.1:0', access: {deny: [127.0.0.0/8]}}]");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.client().isAtEnd()).isTrue();
    assertThat(before.get("/").answer().content()).isEqualTo("open");
    journey.with("listeners: ['127.0.0.1:0']");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.get("/").content()).isEqualTo("open");
  }
}
