package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.tuning.TuningPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Send buffers by the API, of an appliance without connections. */
class TuningApiIT {

  @TempDir private Path directory;

  private SmallAppliance appliance;
  private AdminServer server;
  private String token;

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    server = appliance.open(directory);
    token = Files.readString(directory.resolve("token")).strip();
  }

  @AfterEach
  void close() {
    server.close();
    appliance.close();
  }

  @Test
  void tuningSaysWhoDecidesAndOnWhat() throws IOException {
    assertThat(request("GET", "/v1/tuning", ""))
        .contains("\"policy\":\"kernel\",\"model\":\"fitted\",\"budgetBytes\":268435456")
        .contains("\"fairness\":1.0", "\"fixedUntilTheyClose\":0");
  }

  @Test
  void anotherPolicyHoldsAtOnceAndTheRestStays() throws IOException {
    assertThat(request("PUT", "/v1/tuning", "{\"policy\":\"equation\",\"budget\":\"1MiB\"}"))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"policy\":\"equation\",\"model\":\"fitted\",\"budgetBytes\":1048576");
    assertThat(appliance.tuner.settings().policy()).isEqualTo(TuningPolicy.EQUATION);
  }

  @Test
  void allProblemsAreToldAtOnce() throws IOException {
    String content = "{\"policy\":\"best\",\"budget\":\"1\"}";
    assertThat(request("PUT", "/v1/tuning", content))
        .startsWith("HTTP/1.1 400 ")
        .contains("policy: \\\"best\\\" (expected: one of off, kernel, equation).")
        .contains("budget: \\\"1\\\" (expected: a size of 64KiB–1TiB");
    assertThat(appliance.tuner.settings().policy()).isEqualTo(TuningPolicy.KERNEL);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[] | The content must be an object with any of policy",
        "{} | The content must be an object with any of policy",
        "{\"policy\":1} | The content must be an object with any of policy",
        "{\"headroom\":\"3\"} | The content must be an object with any of policy",
        "{\"policy\":\"best\"} | policy: \\\"best\\\" (expected: one of off, kernel, equation).",
        "{\"model\":\"padhye\"} | The content must be an object with any of policy",
        "{\"budget\":\"1KiB\"} | budget: \\\"1KiB\\\" (expected: a size of 64KiB",
      })
  void whatNobodyCouldDoIsToldAndChangesNothing(String content, String detail) throws IOException {
    assertThat(request("PUT", "/v1/tuning", content)).startsWith("HTTP/1.1 400 ").contains(detail);
    assertThat(appliance.tuner.settings().policy()).isEqualTo(TuningPolicy.KERNEL);
  }

  @Test
  void connectionsAreAList() throws IOException {
    assertThat(request("GET", "/v1/connections?sort=rate&limit=5", ""))
        .endsWith("{\"policy\":\"kernel\",\"connections\":[]}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sort=size", "sort=", "limit=0", "limit=10001", "limit=x", "by=rate"})
  void aQueryThatMeansNothingIsRefused(String query) throws IOException {
    assertThat(request("GET", "/v1/connections?" + query, "")).startsWith("HTTP/1.1 400 ");
  }

  @Test
  void noConnectionIsSizedByHand() throws IOException {
    assertThat(request("PUT", "/v1/connections", "{}")).startsWith("HTTP/1.1 405 ");
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
