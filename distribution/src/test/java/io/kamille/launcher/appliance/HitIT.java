package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.date;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the store answers, and what it must not (RFC 9111 §3, §4). */
class HitIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void theSecondAnswerComesFromTheStore() {
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600", "Age: 100", "ETag: \"1\""));

    Answer first = journey.get("/a");
    assertThat(first.content()).isEqualTo("hello");
    assertThat(first.field("Cache-Status")).startsWith("kamille; fwd=uri-miss; stored");

    Answer second = journey.get("/a");
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.content()).isEqualTo("hello");
    assertThat(second.field("ETag")).isEqualTo("\"1\"");
    assertThat(second.field("Cache-Status")).startsWith("kamille; hit; ttl=");
    assertThat(Integer.parseInt(String.valueOf(second.field("Age")))).isBetween(100, 160);
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void bigAndSmallContentComesBackOctetByOctet() {
    for (int length : new int[] {0, 1, 1023, 65_536, 1 << 20}) {
      byte[] octets = new byte[length];
      new Random(length).nextBytes(octets);
      String content = new String(octets, StandardCharsets.ISO_8859_1);
      String target = "/of-" + length;
      journey.origin().on(target, ok(content, "Cache-Control: max-age=600"));
      assertThat(journey.get(target).content().equals(content)).isTrue();
      Answer hit = journey.get(target);
      assertThat(hit.content().equals(content)).as("%s from the store", target).isTrue();
      assertThat(hit.field("Cache-Status")).contains("; hit;");
      assertThat(journey.origin().requests(target)).hasSize(1);
    }
  }

  @Test
  void largeContentComesBackOctetByOctetHoweverOftenItIsAskedFor() {
    byte[] octets = new byte[1_000_003];
    new Random(1).nextBytes(octets);
    String content = new String(octets, StandardCharsets.ISO_8859_1);
    journey.origin().on("/large", ok(content, "Cache-Control: max-age=600"));
    journey.get("/large");
    try (TestClient client = journey.client(4_096)) {
      for (int i = 0; i < 12; i++) {
        Answer hit = client.get("/large").answer();
        assertThat(hit.content().equals(content)).as("hit %d", i).isTrue();
      }
      Answer part = client.get("/large", "Range: bytes=70001-").answer();
      assertThat(part.status()).isEqualTo(206);
      assertThat(part.content().equals(content.substring(70_001))).isTrue();
      assertThat(client.request("HEAD", "/large").answer("HEAD").status()).isEqualTo(200);
      client.get("/large").get("/large");
      assertThat(client.answer().content().equals(content)).isTrue();
      assertThat(client.answer().content().equals(content)).isTrue();
    }
    assertThat(journey.origin().requests("/large")).hasSize(1);
    assertThat(journey.accessLog(17)).filteredOn(line -> line.contains("1000003")).hasSize(15);
  }

  @Test
  void whatMayNotBeStoredIsAskedForEachTime() {
    journey
        .origin()
        .on("/no-store", ok("x", "Cache-Control: no-store, max-age=60"))
        .on("/private", ok("x", "Cache-Control: private, max-age=60"))
        .on("/silent", ok("x"))
        .on("/star", ok("x", "Cache-Control: max-age=60", "Vary: *"));
    for (String target : new String[] {"/no-store", "/private", "/silent", "/star"}) {
      assertThat(journey.get(target).content()).isEqualTo("x");
      Answer second = journey.get(target);
      assertThat(second.field("Cache-Status")).as(target).contains("fwd=").doesNotContain("hit");
      assertThat(journey.origin().requests(target)).as(target).hasSize(2);
    }
  }

  @Test
  void aGuessIsMadeFromTheLastModification() {
    journey.origin().on("/old", ok("old", "Last-Modified: " + date(864_000)));
    journey.get("/old");
    assertThat(journey.get("/old").field("Cache-Status")).contains("; hit;");
    assertThat(journey.origin().requests("/old")).hasSize(1);
  }

  @Test
  void aRouteMayGiveAFreshnessLifetimeOrHaveNoCache() {
    journey
        .with(
            "routes: [{upstream: site, cache: {default-ttl: 10m}},"
                + " {path: /raw, upstream: site, cache: off}]")
        .origin()
        .on("/silent", ok("x"))
        .on("/raw", ok("x", "Cache-Control: max-age=60"));
    journey.get("/silent");
    assertThat(journey.get("/silent").field("Cache-Status")).contains("; hit;");
    journey.get("/raw");
    assertThat(journey.get("/raw").field("Cache-Status")).isNull();
    assertThat(journey.origin().requests("/raw")).hasSize(2);
  }

  @Test
  void headIsAnsweredFromAStoredGet() {
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600"));
    journey.get("/a");
    try (TestClient client = journey.client()) {
      Answer head = client.request("HEAD", "/a").answer("HEAD");
      assertThat(head.status()).isEqualTo(200);
      assertThat(head.field("Content-Length")).isEqualTo("5");
      assertThat(head.field("Cache-Status")).contains("; hit;");
      assertThat(client.get("/a").answer().content()).isEqualTo("hello");
    }
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void aConditionThatTheStoredResponseMeetsIsAnsweredWith304() {
    String modified = date(86_400);
    journey
        .origin()
        .on(
            "/a",
            ok("hello", "Cache-Control: max-age=60", "ETag: \"v1\"", "Last-Modified: " + modified));
    journey.get("/a");
    Answer byTag = journey.get("/a", "If-None-Match: \"other\", \"v1\"");
    assertThat(byTag.status()).isEqualTo(304);
    assertThat(byTag.field("ETag")).isEqualTo("\"v1\"");
    assertThat(byTag.field("Cache-Status")).contains("; hit;");
    assertThat(journey.get("/a", "If-Modified-Since: " + modified).status()).isEqualTo(304);
    Answer changed = journey.get("/a", "If-None-Match: \"other\"");
    assertThat(changed.status()).isEqualTo(200);
    assertThat(changed.content()).isEqualTo("hello");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void aRangeOfAStoredResponseIsAnsweredWith206() {
    journey.origin().on("/a", ok("0123456789", "Cache-Control: max-age=60", "ETag: \"v1\""));
    journey.get("/a");
    Answer middle = journey.get("/a", "Range: bytes=2-4");
    assertThat(middle.status()).isEqualTo(206);
    assertThat(middle.field("Content-Range")).isEqualTo("bytes 2-4/10");
    assertThat(middle.content()).isEqualTo("234");
    assertThat(journey.get("/a", "Range: bytes=-3").content()).isEqualTo("789");
    assertThat(journey.get("/a", "Range: bytes=7-").content()).isEqualTo("789");
    Answer beyond = journey.get("/a", "Range: bytes=10-");
    assertThat(beyond.status()).isEqualTo(416);
    assertThat(beyond.field("Content-Range")).isEqualTo("bytes */10");
    Answer ofAnother = journey.get("/a", "Range: bytes=2-4", "If-Range: \"v0\"");
    assertThat(ofAnother.status()).isEqualTo(200);
    assertThat(ofAnother.content()).isEqualTo("0123456789");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void eachVariantIsStoredAndFoundByItsSelectingFields() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(
                    ok(
                        "in " + visit.request().field("Accept-Language"),
                        "Cache-Control: max-age=60",
                        "Vary: Accept-Language")));
    assertThat(journey.get("/a", "Accept-Language: de").content()).isEqualTo("in de");
    Answer other = journey.get("/a", "Accept-Language: fr");
    assertThat(other.content()).isEqualTo("in fr");
    assertThat(other.field("Cache-Status")).contains("fwd=vary-miss");
    for (String language : new String[] {"de", "fr"}) {
      Answer hit = journey.get("/a", "Accept-Language: " + language);
      assertThat(hit.content()).isEqualTo("in " + language);
      assertThat(hit.field("Cache-Status")).contains("; hit;");
    }
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void queriesAndHostsAreDifferentKeys() {
    journey
        .origin()
        .on("/a", ok("plain", "Cache-Control: max-age=60"))
        .on("/a?q", ok("query", "Cache-Control: max-age=60"));
    assertThat(journey.get("/a").content()).isEqualTo("plain");
    assertThat(journey.get("/a?q").content()).isEqualTo("query");
    assertThat(journey.say("GET /a HTTP/1.1\r\nHost: b\r\n\r\n").field("Cache-Status"))
        .contains("fwd=uri-miss");
    assertThat(journey.origin().requests()).hasSize(3);
  }

  @Test
  void anUnsafeMethodInvalidatesWhatIsStored() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=600"));
    journey.get("/a");
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
    Answer posted = journey.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    assertThat(posted.status()).isEqualTo(200);
    assertThat(posted.field("Cache-Status")).contains("fwd=method");
    assertThat(journey.get("/a").field("Cache-Status")).contains("fwd=uri-miss");
    assertThat(journey.origin().requests("/a"))
        .extracting(StubOrigin.Request::method)
        .containsExactly("GET", "POST", "GET");
  }

  @Test
  void anUnsafeMethodThatFailsInvalidatesNothing() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=600"));
    journey.get("/a");
    journey.origin().on("/a", message("500 Internal Server Error", "no"));
    assertThat(journey.ask("DELETE", "/a").status()).isEqualTo(500);
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void whatWasAskedWithAuthorizationIsNotStoredUnlessAllowed() {
    journey
        .origin()
        .on("/mine", ok("mine", "Cache-Control: max-age=600"))
        .on("/ours", ok("ours", "Cache-Control: public, max-age=600"));
    String authorization = "Authorization: Basic eDp5";
    journey.get("/mine", authorization);
    assertThat(journey.get("/mine").field("Cache-Status")).doesNotContain("hit");
    journey.get("/ours", authorization);
    assertThat(journey.get("/ours").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void theClientMayInsistOnTheStoreOrOnTheOrigin() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=600"));
    Answer nothing = journey.get("/a", "Cache-Control: only-if-cached");
    assertThat(nothing.status()).isEqualTo(504);
    assertThat(journey.origin().requests()).isEmpty();
    journey.get("/a");
    assertThat(journey.get("/a", "Cache-Control: only-if-cached").content()).isEqualTo("x");
    assertThat(journey.get("/a", "Cache-Control: no-cache").field("Cache-Status"))
        .contains("fwd=request");
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void severalRangesComeBackAsParts() {
    String content = "0123456789".repeat(100_000);
    journey.origin().on("/a", ok(content, "Cache-Control: max-age=600"));
    journey.get("/a");
    Answer parts = journey.get("/a", "Range: bytes=0-599999,700000-999999");
    assertThat(parts.status()).isEqualTo(206);
    assertThat(parts.field("Content-Type")).startsWith("multipart/byteranges; boundary=");
    assertThat(parts.content())
        .contains("Content-Range: bytes 0-599999/1000000\r\n\r\n" + content.substring(0, 600_000))
        .contains(
            "Content-Range: bytes 700000-999999/1000000\r\n\r\n" + content.substring(700_000));
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }
}
