package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A directory of files as the origin of a route. */
class FilesIT {

  private static final int LONG = 700_000;
  private static final Instant WRITTEN = Instant.parse("2026-01-02T03:04:05Z");

  @TempDir private Path directory = Path.of("");

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void serve() throws IOException {
    write("root/index.html", "home");
    write("root/sub/index.html", "below");
    write("root/app.js", "plain");
    write("root/.env", "hidden");
    write("secret", "outside");
    write("root/long.bin", "0123456789".repeat(LONG / 10));
    Files.createSymbolicLink(directory.resolve("root/out"), directory.resolve("secret"));
    Files.createSymbolicLink(directory.resolve("root/in"), directory.resolve("root/app.js"));
    Files.createSymbolicLink(directory.resolve("root/env"), directory.resolve("root/.env"));
    journey.with("routes: [{root: " + directory.resolve("root") + "}]");
  }

  private void write(String name, String content) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
    Files.setLastModifiedTime(file, FileTime.from(WRITTEN));
  }

  @Test
  void aFileComesWithTypeAndValidators() {
    Answer answer = journey.get("/app.js");
    assertThat(answer.content()).isEqualTo("plain");
    assertThat(answer.field("Content-Type")).isEqualTo("text/javascript; charset=utf-8");
    assertThat(answer.field("Last-Modified")).isEqualTo("Fri, 02 Jan 2026 03:04:05 GMT");
    String tag = String.valueOf(answer.field("ETag"));
    assertThat(journey.get("/app.js", "If-None-Match: " + tag).status()).isEqualTo(304);
    Answer head = journey.ask("HEAD", "/app.js");
    assertThat(head.content()).isEmpty();
    assertThat(head.field("Content-Length")).isEqualTo("5");
  }

  @Test
  void aDirectoryHasAnIndexBehindItsSlash() {
    assertThat(journey.get("/").content()).isEqualTo("home");
    assertThat(journey.get("/sub/").content()).isEqualTo("below");
    Answer answer = journey.get("//sub?a=b");
    assertThat(answer.status()).isEqualTo(301);
    assertThat(answer.field("Location")).isEqualTo("/sub/?a=b");
  }

  @Test
  void nothingHiddenAndNothingOutsideIsSent() {
    for (String path : new String[] {"/.env", "/env", "/out", "/../secret", "/%2e%2e/secret"}) {
      assertThat(journey.get(path).status()).as(path).isEqualTo(404);
    }
    assertThat(journey.get("/in").content()).isEqualTo("plain");
  }

  @Test
  void whatASitePublishesIsSent() throws IOException {
    write("root/.well-known/security.txt", "Contact: us");
    write("root/.well-known/.secret", "hidden");
    Files.createSymbolicLink(
        directory.resolve("root/.well-known/env"), directory.resolve("root/.env"));
    assertThat(journey.get("/.well-known/security.txt").content()).isEqualTo("Contact: us");
    assertThat(journey.get("/.well-known/.secret").status()).isEqualTo(404);
    assertThat(journey.get("/.well-known/env").status()).isEqualTo(404);
  }

  @Test
  void aPathBelowAFileOrWithTooLongANameIsMissing() {
    assertThat(journey.get("/app.js/x").status()).isEqualTo(404);
    assertThat(journey.get("/" + "a".repeat(256)).status()).isEqualTo(404);
    assertThat(journey.get("/" + "a/".repeat(2_100)).status()).isEqualTo(404);
  }

  @Test
  void aCompressedFileStandsForItUnlessItIsOlder() throws IOException {
    write("root/app.js.br", "br");
    write("root/app.js.gz", "gzip");
    Answer answer = journey.get("/app.js", "Accept-Encoding: gzip, br");
    assertThat(answer.content()).isEqualTo("br");
    assertThat(answer.field("Content-Encoding")).isEqualTo("br");
    assertThat(answer.field("Content-Type")).isEqualTo("text/javascript; charset=utf-8");
    assertThat(journey.get("/app.js", "Accept-Encoding: gzip").content()).isEqualTo("gzip");
    Answer plain = journey.get("/app.js");
    assertThat(plain.content()).isEqualTo("plain");
    assertThat(plain.field("Vary")).isEqualTo("Accept-Encoding");
    Files.setLastModifiedTime(
        directory.resolve("root/app.js"), FileTime.from(WRITTEN.plusSeconds(1)));
    assertThat(journey.get("/app.js", "Accept-Encoding: br").content()).isEqualTo("plain");
  }

  @Test
  void aCompressedFileThatIsNotShorterIsForThoseThatTakeNoOther() throws IOException {
    write("root/app.js.br", "longer than plain");
    write("root/app.js.gz", "gzip");
    assertThat(journey.get("/app.js", "Accept-Encoding: br").content()).isEqualTo("plain");
    assertThat(journey.get("/app.js", "Accept-Encoding: br, gzip;q=0.5").content())
        .isEqualTo("gzip");
    assertThat(journey.get("/app.js", "Accept-Encoding: br, identity;q=0").content())
        .isEqualTo("longer than plain");
  }

  @Test
  void aNameThatNoCompressedFileCanHaveIsServed() throws IOException {
    String name = "a".repeat(250) + ".js";
    write("root/" + name, "plain");
    assertThat(journey.get("/" + name, "Accept-Encoding: br").content()).isEqualTo("plain");
  }

  @Test
  void aLongFileComesWholeAndInParts() {
    assertThat(journey.get("/long.bin").content()).hasSize(LONG).startsWith("0123").endsWith("89");
    Answer part = journey.get("/long.bin", "Range: bytes=5-99999");
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.content()).hasSize(99_995).startsWith("5678");
    assertThat(journey.get("/long.bin", "Range: bytes=700000-").status()).isEqualTo(416);
  }

  @Test
  void otherMethodsAreRefused() {
    Answer answer = journey.ask("DELETE", "/app.js");
    assertThat(answer.status()).isEqualTo(405);
    assertThat(answer.lines().stream().filter(line -> line.startsWith("Allow:")))
        .containsExactly("Allow: GET, HEAD");
  }

  @Test
  void eachErrorHasThePageOfTheRoute() {
    journey.with(
        "routes: [{root: " + directory.resolve("root") + ", error-pages: {4xx: {body: No.}}}]");
    Answer method = journey.ask("DELETE", "/app.js");
    assertThat(method.status()).isEqualTo(405);
    assertThat(method.content()).isEqualTo("No.");
    assertThat(method.field("Allow")).isEqualTo("GET, HEAD");
    assertThat(method.field("Proxy-Status")).startsWith("kamille; error=http_request_error");
    Answer range = journey.get("/app.js", "Range: bytes=9-");
    assertThat(range.status()).isEqualTo(416);
    assertThat(range.content()).isEqualTo("No.");
    assertThat(range.field("Content-Range")).isEqualTo("bytes */5");
    assertThat(journey.get("/none").content()).isEqualTo("No.");
  }
}
