package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Broken chunks end the connection, and the origin never takes what came for a whole request (RFC
 * 9112 §7.1, §8). TERM.EXT and its kin: Jeppe Bonde Weikop, "Funky Chunks", 2025.
 */
class ChunkAbuseIT {

  private static final String HEAD =
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

  private final Queue<String> contents = new ConcurrentLinkedQueue<>();

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void keepContents() {
    journey
        .origin()
        .on(
            "/c",
            visit -> {
              contents.add(visit.content());
              visit.send(ok("x"));
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "sign plus                | +1~x~0~~",
        "sign minus               | -1~x~0~~",
        "hex prefix               | 0x1~x~0~~",
        "underscore               | 1_0~x~0~~",
        "blank before             | #1~x~0~~",
        "blank behind             | 1#~x~0~~",
        "no size                  | ~x~0~~",
        "no hex digit             | g~x~0~~",
        "overflow of 32 bits      | 100000000000000000001~x~0~~",
        "overflow of 64 bits      | fffffffffffffffff~x~0~~",
        "16 digits                | 0000000000000001~x~0~~",
        "longer than its size     | 1~xy~0~~",
        "LF behind the size       | 1$x~0~~",
        "CR behind the size       | 1%x~0~~",
        "LF behind the chunk      | 1~x$0~~",
        "CR behind the chunk      | 1~x%0~~",
        "EXT.TERM: LF in extension| 1;a$b~x~0~~",
        "TERM.EXT: CR in extension| 1;a%b~x~0~~",
        "NUL in extension         | 1;@~x~0~~",
        "CRLF in a quoted string  | 1;a=\"~x~0~~",
        "CRLF in it, to the quote | 1;a=\"~x~0;\"~~",
        "CRLF behind an escape    | 1;a=\"\\~x~0~~",
        "escaped closing quote    | 1;a=\"\\\"~x~0~~",
        "escape without a quote   | 1;a\\\"b\"~x~0~~",
        "CRLF quoted, last chunk  | 1~x~0;a=\"~~",
        "SPILL: two octets between| 1~xAB0~~",
        "LF behind the last size  | 0$~~",
        "LF for an empty line     | 0~$",
        "folded trailer           | 0~A: b~ c~~",
        "trailer without colon    | 0~GET / HTTP/1.1~~",
        "blank before colon       | 0~A : b~~",
        "LF behind a trailer      | 0~A: b$~",
        "NUL in a trailer         | 0~A: @~~",
      })
  void brokenChunksAreRefused(String abuse, String chunks) {
    String octets =
        chunks
            .replace("~", "\r\n")
            .replace('#', ' ')
            .replace('$', '\n')
            .replace('%', '\r')
            .replace('@', '\0');
    refused(abuse, octets);
  }

  /** CVE-2024-22017 and CVE-2023-39326: ignored octets cost as much to read as others. */
  @Test
  void extensionsAndTrailersAreLimited() {
    refused("one long extension", "1;" + "e".repeat(17_000) + "\r\nx\r\n0\r\n\r\n");
    refused("many extensions", ("1;" + "e".repeat(100) + "\r\nx\r\n").repeat(200) + "0\r\n\r\n");
    refused("a long trailer", "0\r\nA: " + "b".repeat(9_000) + "\r\n\r\n");
    refused("many trailers", "0\r\n" + "A: b\r\n".repeat(33) + "\r\n");
  }

  @Test
  void whatIsCutShortIsNoRequest() {
    for (String cut : new String[] {"5\r\nhell", "5\r\nhello", "5\r\nhello\r\n", "0\r\n", "5;a"}) {
      try (TestClient client = journey.client()) {
        client.send(HEAD + cut).closeOutput();
        assertThat(client.answer().status()).as(cut).isEqualTo(400);
        assertThat(client.isAtEnd()).as(cut).isTrue();
      }
    }
    assertThat(contents).isEmpty();
  }

  @Test
  void afterTheEndOfTheContentTheNextRequestBegins() {
    journey.origin().on("/next", ok("next"));
    try (TestClient client = journey.client()) {
      client.send(HEAD + "3;x=y\r\na\r\n\r\n000\r\nT: 1\r\n\r\n").get("/next");
      assertThat(client.answer().content()).isEqualTo("x");
      assertThat(client.answer().content()).isEqualTo("next");
    }
    assertThat(contents).containsExactly("a\r\n");
  }

  private void refused(String abuse, String chunks) {
    try (TestClient client = journey.client()) {
      Answer answer = client.send(HEAD + chunks + SMUGGLED).answer();
      assertThat(answer.status()).as(abuse).isEqualTo(400);
      assertThat(answer.field("Connection")).as(abuse).isEqualTo("close");
      assertThat(client.isAtEnd()).as(abuse).isTrue();
    }
    assertThat(contents).as(abuse).isEmpty();
    assertThat(journey.origin().requests("/smuggled")).as(abuse).isEmpty();
  }
}
