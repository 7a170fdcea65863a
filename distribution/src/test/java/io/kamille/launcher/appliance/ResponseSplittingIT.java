package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever octets an origin is brought to send, nobody gets an answer meant for another request
 * (RFC 9112 §11.1; Amit Klein, "Divide and Conquer", 2004).
 */
class ResponseSplittingIT {

  private static final String POISON =
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\npoison";

  @RegisterExtension private final Journey journey = new Journey();

  /** RFC 9112 §2.2, §4, §5, §6: two readings are a fault. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK~Content-Length: 5~Content-Length: 0~~",
        "HTTP/1.1 200 OK~Content-Length: 0, 0~~",
        "HTTP/1.1 200 OK~Content-Length: 0~Transfer-Encoding: chunked~~0~~",
        "HTTP/1.1 200 OK~Transfer-Encoding: chunked, chunked~~0~~",
        "HTTP/1.1 200 OK~Transfer-Encoding: gzip, chunked~~0~~",
        "HTTP/1.1 200 OK~Transfer-Encoding: identity~~",
        "HTTP/1.1 200 OK~Transfer-Encoding : chunked~~0~~",
        "HTTP/1.0 200 OK~Transfer-Encoding: chunked~~0~~",
        "HTTP/1.1 200 OK~Location: /~ Content-Length: 0~~",
        "HTTP/1.1 200 OK~Location: /\nContent-Length: 0~~",
        "HTTP/1.1 200 OK~Location: /\rContent-Length: 0~~",
        "HTTP/1.1 200 OK~Location: /\0~Content-Length: 0~~",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 O\rK~Content-Length: 0~~",
        "HTTP/1.1 200 OK~Content-Length: 0~\n",
        "HTTP/1.1 304 Not Modified~~",
        "HTTP/1.1 101 Switching Protocols~Upgrade: x~Connection: upgrade~~",
        "~HTTP/1.1 200 OK~Content-Length: 0~~",
      })
  void aResponseThatReadsInTwoWaysIsABadGateway(String octets) {
    Answer answer = answerTo(octets.replace("~", "\r\n"));
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.field("Proxy-Status")).contains("error=http_protocol_error");
  }

  /** RFC 9112 §6.3, §9.2: what stands behind the end of a response answers nothing. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "HTTP/1.1 200 OK~Content-Length: 0~~                                    | 200 |",
        "HTTP/1.1 200 OK~Content-Length: 2~~ok                                  | 200 | ok",
        "HTTP/1.1 200 OK~Transfer-Encoding: chunked~~2~ok~0~~                   | 200 | ok",
        "HTTP/1.1 204 No Content~~                                              | 204 |",
        "HTTP/1.1 204 No Content~Content-Length: 91~~                           | 204 |",
        "HTTP/1.1 204 No Content~Transfer-Encoding: chunked~~                   | 204 |",
        "HTTP/1.1 103 Early Hints~~HTTP/1.1 200 OK~Content-Length: 2~~ok        | 200 | ok",
        "HTTP/1.1 100 Continue~Content-Length: 91~~HTTP/1.1 200 OK~Content-Length: 2~~ok | 200 | ok",
      })
  void octetsBehindAResponseAreNoAnswer(String octets, int status, String content) {
    Answer answer = answerTo(octets.replace("~", "\r\n"));
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.content()).isEqualTo(content == null ? "" : content);
  }

  /** RFC 9110 §9.3.2. */
  @Test
  void contentOfAResponseToHeadIsNoAnswer() {
    scripted("HTTP/1.1 200 OK\r\nContent-Length: " + POISON.length() + "\r\n\r\n");
    try (TestClient client = journey.client()) {
      assertThat(client.request("HEAD", "/split").answer("HEAD").status()).isEqualTo(200);
      assertSound(client);
    }
    assertThat(journey.origin().requests("/split")).hasSize(1);
  }

  /** RFC 9110 §15.2: interim responses are limited, and none is the final one. */
  @Test
  void interimResponsesWithoutEndAreABadGateway() {
    scripted("HTTP/1.1 102 Processing\r\n\r\n".repeat(17));
    try (TestClient client = journey.client().get("/split")) {
      Answer answer = client.answer();
      while (answer.status() < 200) {
        assertThat(answer.content()).isEmpty();
        answer = client.answer();
      }
      assertThat(answer.status()).isEqualTo(502);
    }
  }

  /** RFC 9112 §7.1, §8: broken off is never complete, and never stored. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 1000~~cut",
        "Transfer-Encoding: chunked~~3~cut~",
        "Transfer-Encoding: chunked~~3~cut~0~",
        "Transfer-Encoding: chunked~~3~cut~0~A: b~",
        "Transfer-Encoding: chunked~~3~cut~x~",
        "Transfer-Encoding: chunked~~3~cutoff~0~~",
        "Transfer-Encoding: chunked~~-3~cut~0~~",
        "Transfer-Encoding: chunked~~3;\n~cut~0~~",
        "Transfer-Encoding: chunked~~3~cut~0~ A: b~~",
      })
  void whatIsCutShortOrBrokenIsNotStored(String rest) {
    String octets = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + rest.replace("~", "\r\n");
    journey
        .withUpstream("retries: 0")
        .origin()
        .on(
            "/split",
            visit -> {
              visit.send(octets);
              visit.close();
            });
    for (int i = 0; i < 2; i++) {
      try (TestClient client = journey.client().get("/split")) {
        assertThatThrownBy(client::answer).isInstanceOf(UncheckedIOException.class);
      }
    }
    assertThat(journey.origin().requests("/split")).as("asked each time").hasSize(2);
  }

  /** What a request says comes back to nobody as a field of ours. */
  @ParameterizedTest
  @ValueSource(strings = {"/%0d%0aSet-Cookie:%20a=b", "/%0aX:y", "/%E5%98%8A%E5%98%8DX:y", "/%00"})
  void encodedLineEndsStayEncoded(String target) {
    Answer answer = journey.get(target);
    assertThat(answer.field("Set-Cookie")).isNull();
    assertThat(answer.field("X")).isNull();
    assertThat(journey.origin().request(target).target()).isEqualTo(target);
  }

  /** The answer to the first request; the next ones, on both connections, are sound. */
  private Answer answerTo(String octets) {
    scripted(octets);
    try (TestClient client = journey.client().get("/split")) {
      Answer answer = client.answer();
      while (answer.status() < 200) {
        answer = client.answer();
      }
      assertSound(client);
      return answer;
    }
  }

  private void scripted(String octets) {
    journey
        .withUpstream("retries: 0")
        .origin()
        .on("/split", visit -> visit.send(octets + POISON))
        .on("/sound", StubOrigin.ok("sound", "Cache-Control: no-store"));
  }

  private void assertSound(TestClient client) {
    for (int i = 0; i < 3; i++) {
      assertThat(client.get("/sound").answer().content()).isEqualTo("sound");
      assertThat(journey.get("/sound").content()).isEqualTo("sound");
    }
  }
}
