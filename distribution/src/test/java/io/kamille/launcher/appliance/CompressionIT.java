package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.github.luben.zstd.ZstdInputStream;
import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a route with {@code compress: on} sends (RFC 9110 §8.4, §12.5.3). */
class CompressionIT {

  private static final String PAGE =
      "<p>A line of a page that says the same again.</p>\n".repeat(900);
  private static final String[] CODINGS = {"gzip", "br", "zstd"};

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void aRouteCompresses() {
    journey
        .with("routes: [{upstream: site, cache: {compress: on}}]")
        .origin()
        .on(
            "/page",
            ok(PAGE, "Cache-Control: max-age=600", "ETag: \"v1\"", "Content-Type: text/html"))
        .on("/picture", ok(PAGE, "Cache-Control: max-age=600", "Content-Type: image/png"));
  }

  @Test
  void eachRequestGetsTheFormThatItTakes() throws IOException {
    Answer miss = journey.get("/page", "Accept-Encoding: gzip, br");
    assertThat(miss.field("Content-Encoding")).isEqualTo("gzip");
    assertThat(decoded("gzip", miss.content())).isEqualTo(PAGE);
    assertThat(miss.field("Vary")).isEqualTo("Accept-Encoding");
    awaitForms();
    for (String coding : CODINGS) {
      Answer hit = journey.get("/page", "Accept-Encoding: " + coding);
      assertThat(hit.field("Content-Encoding")).isEqualTo(coding);
      assertThat(hit.field("ETag")).isEqualTo("W/\"v1\"");
      assertThat(hit.field("Vary")).isEqualTo("Accept-Encoding");
      assertThat(hit.field("Cache-Status")).contains("; hit;");
      assertThat(decoded(coding, hit.content())).isEqualTo(PAGE);
    }
    Answer plain = journey.get("/page");
    assertThat(plain.content()).isEqualTo(PAGE);
    assertThat(plain.field("ETag")).isEqualTo("\"v1\"");
    assertThat(journey.origin().request("/page").field("Accept-Encoding")).isEqualTo("identity");
  }

  @Test
  void headConditionAndRangeOnOneConnection() {
    journey.get("/page");
    awaitForms();
    try (TestClient client = journey.client()) {
      Answer head = client.request("HEAD", "/page", "Accept-Encoding: br").answer("HEAD");
      assertThat(head.field("Content-Encoding")).isEqualTo("br");
      Answer get = client.get("/page", "Accept-Encoding: br").answer();
      assertThat(head.field("Content-Length")).isEqualTo(Integer.toString(get.content().length()));
      Answer unchanged =
          client.get("/page", "Accept-Encoding: br", "If-None-Match: W/\"v1\"").answer();
      assertThat(unchanged.status()).isEqualTo(304);
      assertThat(unchanged.field("ETag")).isEqualTo("W/\"v1\"");
      Answer part = client.get("/page", "Accept-Encoding: br", "Range: bytes=3-5").answer();
      assertThat(part.status()).isEqualTo(206);
      assertThat(part.content()).isEqualTo(PAGE.substring(3, 6));
      assertThat(part.field("ETag")).isEqualTo("\"v1\"");
    }
    assertThat(journey.origin().requests("/page")).hasSize(1);
  }

  @Test
  void aValidationKeepsTheForms() throws IOException {
    journey
        .origin()
        .on(
            "/checked",
            visit -> {
              visit.content();
              boolean isAsked = visit.request().field("If-None-Match") != null;
              visit.send(
                  isAsked
                      ? message("304 Not Modified", "", "ETag: \"v1\"")
                          .replace("Content-Length: 0\r\n", "")
                      : ok(
                          PAGE,
                          "Cache-Control: no-cache",
                          "ETag: \"v1\"",
                          "Content-Type: text/html"));
            });
    journey.get("/checked");
    Await.until(
        () -> journey.get("/checked", "Accept-Encoding: zstd").field("Content-Encoding") != null,
        "the forms are there");
    Answer checked = journey.get("/checked", "Accept-Encoding: zstd");
    assertThat(checked.field("Content-Encoding")).isEqualTo("zstd");
    assertThat(checked.field("Cache-Status")).contains("fwd-status=304");
    assertThat(decoded("zstd", checked.content())).isEqualTo(PAGE);
  }

  @Test
  void anotherTypeIsSentAsItCame() {
    journey.get("/picture");
    Answer hit = journey.get("/picture", "Accept-Encoding: br");
    assertThat(hit.field("Vary")).isNull();
    assertThat(hit.content()).isEqualTo(PAGE);
  }

  private void awaitForms() {
    Await.until(
        () -> journey.get("/page", "Accept-Encoding: br").field("Content-Encoding") != null,
        "the forms are there");
  }

  private static String decoded(String coding, String content) throws IOException {
    Brotli4jLoader.ensureAvailability();
    var in = new ByteArrayInputStream(content.getBytes(StandardCharsets.ISO_8859_1));
    try (InputStream decoder =
        switch (coding) {
          case "br" -> new BrotliInputStream(in);
          case "zstd" -> new ZstdInputStream(in);
          default -> new GZIPInputStream(in);
        }) {
      return new String(decoder.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }
}
