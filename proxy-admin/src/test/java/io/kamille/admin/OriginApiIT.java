package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Origins that come and go by the API. */
class OriginApiIT {

  private static final String PATH = "/v1/upstreams/site/origins/10.0.0.9:8080";

  @TempDir private Path directory;

  private final FakeAppliance appliance = new FakeAppliance();
  private AdminServer server;
  private String token;

  @BeforeEach
  void open() throws IOException {
    Path file = directory.resolve("token");
    server =
        AdminServer.open(
            FakeAppliance.settings(new HostPort("127.0.0.1", 0), file),
            appliance,
            List.of(),
            new MetricRegistry(),
            ManualClock.atSeconds(1_795_251_660L),
            null,
            false);
    token = Files.readString(file).strip();
  }

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void anOriginIsAddedForATimeAndRemoved() throws IOException {
    String content = "{\"url\":\"http://10.0.0.9:8080\",\"ttl\":\"30s\",\"weight\":3}";
    assertThat(request("PUT", PATH, content))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("{\"upstream\":\"site\",\"origin\":\"10.0.0.9:8080\",\"seconds\":30}\n");
    assertThat(appliance.leased).singleElement().asString().contains("weight=3", "backup=false");
    assertThat(request("DELETE", PATH, "")).startsWith("HTTP/1.1 204 ");
    assertThat(request("DELETE", PATH, "")).startsWith("HTTP/1.1 404 ");
  }

  @Test
  void bothAreTakenDownInTheAuditLog() throws IOException {
    request("PUT", PATH, "{\"url\":\"http://10.0.0.9:8080\",\"ttl\":\"30s\"}");
    request("DELETE", PATH, "");
    assertThat(request("GET", "/v1/audit", ""))
        .contains("PUT /v1/upstreams/{upstream}/origins/{origin}")
        .contains("DELETE /v1/upstreams/{upstream}/origins/{origin}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'url':'http://10.0.0.8:8080','ttl':'30s'} | 400",
        "{'url':'10.0.0.9:8080','ttl':'30s'} | 400",
        "{'ttl':'30s'} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':'0s'} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':'2d'} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':30} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':'30s','weight':0} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':'30s','wieght':2} | 400",
        "{'url':'http://10.0.0.9:8080','ttl':'30s','state':'drain'} | 400",
        "{'url':'https://10.0.0.9:8080','ttl':'30s'} | 409",
      },
      quoteCharacter = '`')
  void whatIsNoOriginOrDoesNotSuitIsRefused(String content, int status) throws IOException {
    assertThat(request("PUT", PATH, content.replace('\'', '"')))
        .startsWith("HTTP/1.1 " + status + " ");
  }

  @Test
  void anUpstreamThatIsUnknownGetsNone() throws IOException {
    String content = "{\"url\":\"http://10.0.0.9:8080\",\"ttl\":\"30s\"}";
    assertThat(request("PUT", PATH.replace("site", "other"), content)).startsWith("HTTP/1.1 404 ");
  }

  private String request(String method, String path, String content) throws IOException {
    try (Wire wire = new Wire(server.address())) {
      return wire.send(
              method
                  + " "
                  + path
                  + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                  + token
                  + "\r\nContent-Type: application/json\r\nContent-Length: "
                  + content.length()
                  + "\r\n\r\n"
                  + content)
          .response();
    }
  }
}
