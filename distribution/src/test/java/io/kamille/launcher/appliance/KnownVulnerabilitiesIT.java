package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What brought other servers to read a message differently from their neighbours, by the number
 * under which it was published. docs/reference/framing.md says of each what it was.
 */
class KnownVulnerabilitiesIT {

  private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

  private static final int FLOOD = 3_000;
  private static final int CALM = 11;
  private static final byte[] WEIGHT = {0, 0, 0, 3, 1};

  @RegisterExtension private final Journey journey = new Journey();

  /** In the octets: ~ is CRLF, $ is LF, % is CR, ^ is a vertical tab, @ is NUL, _ is a blank. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "CVE-2013-4547, nginx   | 400 | POST_/a_@.php HTTP/1.1~Host: a~~",
        "CVE-2017-7656, Jetty   | 505 | POST_/a HTTP/0.9~Host: a~~",
        "CVE-2017-7657, Jetty   | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~100000000~",
        "CVE-2017-7658, Jetty   | 400 | POST_/a HTTP/1.1~Host: a~Content-Length: 0~Content-Length:"
            + " 35~~",
        "CVE-2019-16869, Netty  | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding_: chunked~~0~~",
        "CVE-2019-20444, Netty  | 400 | POST_/a HTTP/1.1~Host: a~Content-Length 35~~",
        "CVE-2019-20445, Netty  | 400 | POST_/a HTTP/1.1~Host: a~Content-Length:"
            + " 5~Transfer-Encoding: chunked~~0~~",
        "CVE-2021-32714, hyper  | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~f0000000000000003~abc~0~~",
        "CVE-2021-32715, hyper  | 400 | POST_/a HTTP/1.1~Host: a~Content-Length: +35~~",
        "CVE-2021-33037, Tomcat | 400 | POST_/a HTTP/1.0~Host: a~Transfer-Encoding: identity~~",
        "CVE-2021-43797, Netty  | 400 | POST_/a HTTP/1.1~Host: a~^Transfer-Encoding: chunked~~0~~",
        "CVE-2022-32214, Node   | 400 | POST_/a HTTP/1.1~Host: a~X: y$Content-Length: 35~~",
        "CVE-2022-32215, Node   | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding: chunked~ ,"
            + " identity~~0~~",
        "CVE-2023-25725, HAProxy| 400 | POST_/a HTTP/1.1~Host: a~:x~Content-Length: 35~~",
        "CVE-2023-30589, Node   | 400 | POST_/a HTTP/1.1~Host: a~X: y%Content-Length: 35~~",
        "CVE-2023-38697, Falcon | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~0x1~a~0~~",
        "CVE-2023-40225, HAProxy| 400 | POST_/a HTTP/1.1~Host: a~Content-Length:~Content-Length:"
            + " 35~~",
        "CVE-2023-45539, HAProxy| 400 | POST_/a#.png HTTP/1.1~Host: a~~",
        "CVE-2024-1135, Gunicorn| 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked,x~Content-Length: 35~~",
        "CVE-2024-27982, Node   | 400 | POST_/a HTTP/1.1~Host: a~_Content-Length: 35~~",
        "CVE-2024-52304, aiohttp| 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~1;a$b~x~0~~",
        "CVE-2025-22871, Go     | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~1$x~0~~",
        "CVE-2025-43859, h11    | 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~1~xAB0~~",
        "CVE-2025-55315, Kestrel| 400 | POST_/a HTTP/1.1~Host: a~Transfer-Encoding:"
            + " chunked~~1;$xx~0~~",
      })
  void whatOthersReadInTwoWaysIsRefused(String number, int status, String octets) {
    Queue<String> contents = keepContents();
    try (TestClient client = journey.client()) {
      Answer answer = client.send(wire(octets) + SMUGGLED).closeOutput().answer();
      assertThat(answer.status()).as(number).isEqualTo(status);
      assertThat(answer.field("Connection")).as(number).isEqualTo("close");
      assertThat(client.isAtEnd()).as(number).isTrue();
    }
    assertThat(contents).as(number).isEmpty();
    assertThat(journey.origin().requests("/smuggled")).as(number).isEmpty();
  }

  /** CVE-2021-40346, HAProxy: a length of 270 that was kept in eight bits became another name's. */
  @Test
  void aLongNameIsNoOtherName() {
    Queue<String> contents = keepContents();
    try (TestClient client = journey.client()) {
      client.send(
          ("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length0" + "a".repeat(255) + ":\r\n")
              + ("Content-Length: " + SMUGGLED.length() + "\r\n\r\n" + SMUGGLED));
      assertThat(client.answer().status()).isEqualTo(200);
    }
    assertThat(contents).containsExactly(SMUGGLED);
    assertThat(journey.origin().requests("/smuggled")).isEmpty();
  }

  /**
   * CVE-2025-4366, Pingora: content of a request that the store answered stayed in the connection.
   * CVE-2022-22720, Apache: so did content that an error of its own left unread.
   */
  @Test
  void contentBehindAnAnswerOfOursIsNoRequest() {
    journey
        .with(
            "routes: [{upstream: site}, {upstream: site, path: /no, access: {deny:"
                + " [127.0.0.0/8]}}]")
        .origin()
        .on("/a", ok("stored", "Cache-Control: max-age=60"));
    journey.get("/a");
    for (String target : new String[] {"/a", "/no"}) {
      try (TestClient client = journey.client()) {
        client.send(
            ("GET " + target + " HTTP/1.1\r\nHost: a\r\n")
                + ("Content-Length: " + SMUGGLED.length() + "\r\n\r\n" + SMUGGLED));
        client.answer();
        client.closeOutput();
        assertThat(client.isAtEnd()).as(target).isTrue();
      }
    }
    assertThat(journey.origin().requests("/smuggled")).isEmpty();
  }

  /**
   * CVE-2011-3192, Apache: hundreds of ranges that overlap made an answer far beyond its object.
   */
  @Test
  void manyRangesAreNotMoreThanTheWhole() {
    journey.origin().on("/r", ok("0123456789".repeat(20), "Cache-Control: max-age=60"));
    journey.get("/r");
    Answer answer = journey.get("/r", "Range: bytes=0-9" + ",1-9".repeat(1300));
    assertThat(answer.content().length()).isLessThanOrEqualTo(200);
  }

  /**
   * Floods of HTTP/2: the connection ends, the origin is asked little, and others are served. Those
   * that need time to pass, CVE-2019-9511 and CVE-2019-9517, are in {@code H2FloodIT}.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CVE-2019-9512",
        "CVE-2019-9513",
        "CVE-2019-9514",
        "CVE-2019-9515",
        "CVE-2019-9516",
        "CVE-2019-9518",
        "CVE-2023-44487",
        "CVE-2024-27316",
        "CVE-2025-8671"
      })
  void aFloodOfHttp2EndsItsConnection(String number) {
    journey
        .with("listeners: [{address: '127.0.0.1:0', protocols: [h2c]}]")
        .origin()
        .on("/a", ok("x"));
    try (TestH2Client client = TestH2Client.connect(journey.address())) {
      for (int i = 0; i < FLOOD; i++) {
        flood(number, client, i);
      }
      assertThat(client.goAwayCode()).isEqualTo(CALM);
    }
    try (TestH2Client other = TestH2Client.connect(journey.address())) {
      assertThat(other.get(1, "/a").answer(1).status()).isEqualTo(200);
    }
    assertThat(journey.origin().requests("/a")).hasSizeLessThan(130);
  }

  private static void flood(String number, TestH2Client client, int i) {
    int stream = 1 + 2 * i;
    switch (number) {
      case "CVE-2019-9512" -> client.ping();
      case "CVE-2019-9513" -> client.frame(TestH2Client.PRIORITY, 0, 1, WEIGHT);
      case "CVE-2019-9514" -> client.get(stream, "/a", "Upper", "case");
      case "CVE-2019-9515" -> client.settings();
      case "CVE-2019-9516" -> client.get(stream, "/a", "", "");
      case "CVE-2019-9518" -> {
        if (i == 0) {
          client.request(1, "POST", "/a", false);
        }
        client.data(1, "", false);
      }
      case "CVE-2023-44487" -> client.get(stream, "/a").reset(stream);
      case "CVE-2024-27316" ->
          client.frame(
              i == 0 ? TestH2Client.HEADERS : TestH2Client.CONTINUATION,
              0,
              1,
              TestH2Client.section("a", "b"));
      default -> client.get(stream, "/a").window(stream, Integer.MAX_VALUE);
    }
  }

  private Queue<String> keepContents() {
    Queue<String> contents = new ConcurrentLinkedQueue<>();
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              contents.add(visit.content());
              visit.send(ok("x"));
            });
    return contents;
  }

  private static String wire(String text) {
    return text.replace("~", "\r\n")
        .replace('$', '\n')
        .replace('%', '\r')
        .replace('^', '\u000b')
        .replace('@', '\0')
        .replace('_', ' ');
  }
}
