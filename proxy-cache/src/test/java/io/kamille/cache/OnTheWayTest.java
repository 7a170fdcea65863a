package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdInputStream;
import io.kamille.cache.ScriptedOrigin.Forwarded;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Reason;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.RequestHead;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses of the origin are compressed on their way to a client. */
class OnTheWayTest {

  private static final String PAGE =
      "<p>A line of a page that says the same again.</p>\n".repeat(200);
  private static final String HALF = PAGE.substring(0, PAGE.length() / 2);

  private final CacheFixture fixture = fixture(false);

  @AfterEach
  void close() {
    fixture.close();
  }

  private static CacheFixture fixture(boolean withSetCookie) {
    var rules =
        new CompressionRules(
            List.of(ContentCoding.values()),
            List.of("text/*", "application/grpc"),
            1000,
            1 << 20,
            withSetCookie);
    return new CacheFixture(8 << 20, TestSettings.of(CachePolicy.DEFAULT, rules, 1 << 20));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "zstd"})
  void aResponseThatIsNotStoredIsCompressed(String coding) throws IOException {
    RecordingReply reply =
        fixture.fill(
            CacheFixture.fields("Accept-Encoding", coding),
            200,
            PAGE,
            "Cache-Control",
            "no-store",
            "Content-Type",
            "text/html",
            "ETag",
            "\"v1\"",
            "Accept-Ranges",
            "bytes");
    assertThat(reply.field("Content-Encoding")).isEqualTo(coding);
    assertThat(reply.field("ETag")).isEqualTo("W/\"v1\"");
    assertThat(reply.field("Vary")).isEqualTo("Accept-Encoding");
    assertThat(reply.field("Accept-Ranges")).isNull();
    assertThat(reply.field("Content-Length")).isNull();
    assertThat(reply.announcedLength()).isEqualTo(-1);
    assertThat(reply.content().length).isLessThan(PAGE.length() / 10);
    assertThat(decoded(coding, reply.content())).isEqualTo(PAGE);
    assertThat(reply.isComplete()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "zstd"})
  void whatTheOriginHasSentSoFarCanBeRead(String coding) throws IOException {
    RecordingReply reply = fixture.send("POST", CacheFixture.URI, "Accept-Encoding", coding);
    Forwarded asked = fixture.origin.last().head(200, -1, "Content-Type", "text/html");
    for (int i = 0; i < 3; i++) {
      asked.write("line " + i + "\n");
      assertThat(decoded(coding, reply.content())).endsWith("line " + i + "\n");
    }
    asked.end();
    assertThat(decoded(coding, reply.content())).isEqualTo("line 0\nline 1\nline 2\n");
  }

  @Test
  void theFirstResponseIsCompressedAndStoredAsItIs() throws IOException {
    RecordingReply first =
        fixture.fill(
            CacheFixture.fields("Accept-Encoding", "gzip"),
            200,
            PAGE,
            "Cache-Control",
            "max-age=60",
            "Content-Type",
            "text/html",
            "ETag",
            "\"v1\"");
    assertThat(decoded("gzip", first.content())).isEqualTo(PAGE);
    RecordingReply plain = fixture.get();
    assertThat(plain.text()).isEqualTo(PAGE);
    assertThat(plain.field("ETag")).isEqualTo("\"v1\"");
    assertThat(plain.field("Content-Encoding")).isNull();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(fixture.get("Accept-Encoding", "gzip", "If-None-Match", "W/\"v1\"").status())
        .isEqualTo(304);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gzip | Content-Type  | text/event-stream
          gzip | Content-Type  | application/grpc
          gzip | Content-Type  | image/png
          gzip | Set-Cookie    | a=b
          gzip | Cache-Control | no-transform
          gzip | Content-Encoding | br
          gzip | Signature     | x
          br   | X-A           | b
          identity | X-A       | b
          """)
  void othersGoOnAsTheyCome(String accepted, String name, String value) {
    String[] type =
        name.equals("Content-Type")
            ? new String[] {name, value}
            : new String[] {"Content-Type", "text/html", name, value};
    String[] all = new String[type.length + 4];
    System.arraycopy(new String[] {"Cache-Control", "no-store", "ETag", "\"v1\""}, 0, all, 0, 4);
    System.arraycopy(type, 0, all, 4, type.length);
    RecordingReply reply =
        fixture.fill(CacheFixture.fields("Accept-Encoding", accepted), 200, PAGE, all);
    assertThat(reply.text()).isEqualTo(PAGE);
    assertThat(reply.field("ETag")).isEqualTo("\"v1\"");
    assertThat(reply.announcedLength()).isEqualTo(PAGE.length());
  }

  @Test
  void aRangeIsOneOfTheUncodedContentAndARequestMayForbidChanges() {
    for (String[] request :
        new String[][] {
          {"Accept-Encoding", "gzip", "Range", "bytes=0-1999"},
          {"Accept-Encoding", "gzip", "Cache-Control", "no-transform, no-store"}
        }) {
      boolean isRange = request[2].equals("Range");
      RecordingReply reply = fixture.get(request);
      Forwarded asked = fixture.origin.last();
      if (isRange) {
        asked.respond(206, HALF, "Content-Type", "text/html", "Content-Range", "bytes 0-1999/5000");
      } else {
        asked.respond(200, HALF, "Content-Type", "text/html");
      }
      fixture.run();
      assertThat(reply.text()).isEqualTo(HALF);
    }
  }

  @Test
  void aPageThatSetsACookieIsCompressedIfThatIsWanted() throws IOException {
    try (CacheFixture told = fixture(true)) {
      RecordingReply reply =
          told.fill(
              CacheFixture.fields("Accept-Encoding", "gzip"),
              200,
              PAGE,
              "Content-Type",
              "text/html",
              "Set-Cookie",
              "a=b");
      assertThat(decoded("gzip", reply.content())).isEqualTo(PAGE);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCookieOfTheAuthServerCountsAsOneOfTheOrigin(boolean isWanted) {
    try (CacheFixture told = fixture(isWanted)) {
      RecordingReply reply = new RecordingReply();
      Exchange exchange = told.exchange("GET", CacheFixture.URI, reply, "Accept-Encoding", "gzip");
      exchange.notes().cookies(List.of("a=b"));
      told.handler.handle(exchange);
      told.origin.last().respond(200, PAGE, "Content-Type", "text/html");
      told.run();
      assertThat(reply.field("Content-Encoding")).isEqualTo(isWanted ? "gzip" : null);
    }
  }

  @Test
  void aResponseToHeadSaysWhatItDependsOn() {
    RecordingReply reply = fixture.send("HEAD", CacheFixture.URI, "Accept-Encoding", "gzip");
    fixture.origin.last().head(200, 5000, "Content-Type", "text/html", "ETag", "\"v1\"").end();
    fixture.run();
    assertThat(reply.field("Vary")).isEqualTo("Accept-Encoding");
    assertThat(reply.field("Content-Encoding")).isEqualTo("gzip");
  }

  @Test
  void notModifiedNamesTheTagThatWasAskedAbout() {
    RecordingReply reply = fixture.get("Cache-Control", "no-store", "If-None-Match", "W/\"v1\"");
    fixture.origin.last().respond(304, "", "ETag", "\"v1\"");
    fixture.run();
    assertThat(reply.field("ETag")).isEqualTo("W/\"v1\"");
  }

  @Test
  void thereIsALimitAndEveryEndGivesAPlaceBack() {
    for (int i = 0; i < 300; i++) {
      RecordingReply reply = open();
      assertThat(reply.field("Content-Encoding")).as("request " + i).isEqualTo("gzip");
      if (i % 2 == 0) {
        fixture.origin.last().write(HALF).abort();
        assertThat(reply.isAborted()).isTrue();
      } else {
        fixture.origin.last().write(HALF);
        reply.leave();
        assertThat(fixture.origin.last().isCancelled()).isTrue();
      }
      fixture.run();
    }
    for (int i = 0; i < 256; i++) {
      open();
    }
    RecordingReply oneTooMany = open();
    assertThat(oneTooMany.field("Content-Encoding")).isNull();
    assertThat(fixture.counted("kamille_cache_compressions_refused_total")).isEqualTo(1);
    fixture.origin.requests().subList(300, 557).forEach(Forwarded::end);
  }

  private RecordingReply open() {
    RecordingReply reply = fixture.send("POST", CacheFixture.URI, "Accept-Encoding", "gzip");
    fixture.origin.last().head(200, -1, "Content-Type", "text/html");
    return reply;
  }

  @Test
  void explained() {
    assertThat(explained("gzip;q=0.5, zstd"))
        .contains(
            new Reason(
                "coding",
                "RFC 9110 §12.5.3",
                "Accept-Encoding: gzip;q=0.5, zstd",
                "the response is compressed on its way by zstd, if its type is listed and nothing"
                    + " in it forbids that"));
    assertThat(explained("br").getLast().so()).isEqualTo("the response goes on as it comes");
  }

  private List<Reason> explained(String accepted) {
    return fixture
        .handler
        .explain(RequestHead.of("GET", CacheFixture.URI, "Accept-Encoding", accepted))
        .because();
  }

  private static String decoded(String coding, byte[] octets) throws IOException {
    StringBuilder text = new StringBuilder();
    var coded = new ByteArrayInputStream(octets);
    try (InputStream in =
        coding.equals("gzip")
            ? new GZIPInputStream(coded)
            : new ZstdInputStream(coded).setContinuous(true)) {
      for (int octet = in.read(); octet >= 0; octet = in.read()) {
        text.append((char) octet);
      }
    } catch (EOFException notComplete) {
      // What could be decoded so far counts.
    }
    return text.toString();
  }

  /** RFC 9110 §8.6, §9.3.2. */
  @Test
  void aHeadTellsWhatGetWouldBring() {
    String[] response = {
      "Cache-Control", "no-store", "Content-Type", "text/html", "ETag", "\"v1\""
    };
    RecordingReply get =
        fixture.fill(CacheFixture.fields("Accept-Encoding", "gzip"), 200, PAGE, response);
    RecordingReply head = fixture.send("HEAD", CacheFixture.URI, "Accept-Encoding", "gzip");
    fixture.origin.last().head(200, PAGE.length(), response).end();
    for (String name : List.of("Content-Encoding", "Content-Length", "ETag", "Vary")) {
      assertThat(head.field(name)).as(name).isEqualTo(get.field(name));
    }
    assertThat(head.announcedLength()).isEqualTo(-1);
    assertThat(head.content()).isEmpty();
  }
}
