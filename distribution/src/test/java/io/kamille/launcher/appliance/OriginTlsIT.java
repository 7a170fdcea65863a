package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.origin.send.ScriptedOrigin;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.tls.Certificates;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Origins behind TLS, as the client sees them. */
class OriginTlsIT {

  private static final Script ANSWERS =
      with -> {
        while (true) {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok");
        }
      };

  @RegisterExtension private final Journey journey = new Journey();

  private final Certificates authority = new Certificates("authority");

  OriginTlsIT() throws Exception {}

  private ScriptedOrigin origin() throws Exception {
    return ScriptedOrigin.open(
        Certificates.server(authority.ecdsa("127.0.0.1")), ANSWERS, ANSWERS, ANSWERS, ANSWERS);
  }

  private void trusting(ScriptedOrigin origin, Path file) {
    journey.with(
        "upstreams: {site: {origins: ['https://127.0.0.1:"
            + origin.port()
            + "'], tls: {ca: '"
            + file
            + "'}}}");
  }

  @Test
  void aTrustedOriginAnswersAndAnotherIs502() throws Exception {
    Path file = journey.file("ca.pem");
    Certificates.writeAuthority(new Certificates("other"), file);
    try (ScriptedOrigin origin = origin()) {
      trusting(origin, file);
      Answer refused = journey.get("/a");
      assertThat(refused.status()).isEqualTo(502);
      assertThat(refused.field("Proxy-Status")).isEqualTo("kamille; error=tls_certificate_error");
      assertThat(origin.heads()).isEmpty();
      Certificates.writeAuthority(authority, file);
      journey.appliance().reload(journey.configuration());
      Answer answer = journey.get("/a");
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.content()).isEqualTo("ok");
    }
    assertThat(journey.accessLog(2).getFirst()).contains("tls_certificate_error");
  }

  @Test
  void aReloadWithTheSameFilesKeepsTheConnections() throws Exception {
    Path file = journey.file("ca.pem");
    Certificates.writeAuthority(authority, file);
    try (ScriptedOrigin origin = origin()) {
      trusting(origin, file);
      journey.with("loops: 1");
      assertThat(journey.get("/a").status()).isEqualTo(200);
      Certificates.writeAuthority(authority, file);
      journey.appliance().reload(journey.configuration());
      assertThat(journey.get("/b").status()).isEqualTo(200);
      assertThat(origin.connections()).isEqualTo(1);
    }
  }
}
