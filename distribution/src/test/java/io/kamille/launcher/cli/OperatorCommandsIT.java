package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What operators do most, by the command line and the local socket of one appliance. */
class OperatorCommandsIT {

  @TempDir private static Path directory;
  private static StubOrigin origin;
  private static VersionedFile versions;
  private static Appliance appliance;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void start() throws Exception {
    origin = StubOrigin.open();
    Files.writeString(
        Files.createDirectories(directory.resolve("sites")).resolve("a.yaml"),
        "routes: [{host: included.example, upstream: site}]");
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ['127.0.0.1:0']
            loops: 1
            include: [sites/*.yaml]
            upstreams: {site: {origins: ['%s']}}
            routes:
              - {host: shop.example, upstream: site, cache: {bypass-paths: [/cart]}}
              - {host: shop.example, path: /admin,
                 upstream: site, cache: off, access: {allow: [127.0.0.1]}}
              - {host: other.example, upstream: site}
            cache: {memory: {capacity: 16MiB}}
            log: {level: error}
            admin: {address: '127.0.0.1:0', token-file: '%s/token'}
            """
                .replaceFirst("%s", origin.url())
                .replace("%s", directory.toString()));
    versions = new VersionedFile(file);
    appliance =
        Running.start(
            Running.accepted(versions.reading(), new PrintWriter(new StringWriter())),
            versions::resources);
  }

  @AfterAll
  static void stop() throws Exception {
    appliance.close();
    versions.close();
    origin.close();
  }

  private int kamille(String... words) {
    CommandLine line = KamilleCommand.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    String[] all = new String[words.length + 2];
    System.arraycopy(words, 0, all, 0, words.length);
    all[words.length] = "--state";
    all[words.length + 1] = directory.toString();
    out.getBuffer().setLength(0);
    return line.execute(all);
  }

  private static void get(String target, String... fields) {
    String address = appliance.listening().getFirst();
    int colon = address.lastIndexOf(':');
    try (TestClient client =
        TestClient.connect(
            new InetSocketAddress(
                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))))) {
      StringBuilder head = new StringBuilder("GET " + target + " HTTP/1.1\r\nHost: shop.example");
      for (String field : fields) {
        head.append("\r\n").append(field);
      }
      client.send(head + "\r\n\r\n").answer();
    }
  }

  @Test
  void aRequestIsExplainedWithItsFields() {
    origin.on("/page", ok("x", "Cache-Control: max-age=60", "Vary: Accept-Language"));
    assertThat(kamille("explain", "http://shop.example/page")).isZero();
    assertThat(out.toString()).startsWith("forward uri-miss\n  route | RFC 9110 §7.4 | ");
    get("/page", "Accept-Language: de");
    assertThat(
            kamille("explain", "http://shop.example/page", "-H", "Accept-Language: de", "--json"))
        .isZero();
    assertThat(out.toString()).contains("\"decision\":\"serve\"");
    assertThat(kamille("explain", "http://shop.example/page", "-H", "Accept-Language: en"))
        .isZero();
    assertThat(out.toString()).startsWith("forward vary-miss\n");
    assertThat(kamille("explain", "http://shop.example/page", "-X", "POST")).isZero();
    assertThat(out.toString()).startsWith("pass method\n");
    assertThat(kamille("explain", "shop.example/page")).isEqualTo(64);
    assertThat(err.toString())
        .startsWith("kamille: url: found \"shop.example/page\", expected a URL");
  }

  @Test
  void whatIsAskedForMostIsShown() {
    origin.on("/hot?q=1", ok("x", "Cache-Control: max-age=60", "Cache-Tag: hot-tag"));
    get("/hot?q=1");
    for (int i = 0; i < 9; i++) {
      get("/hot?q=1");
    }
    assertThat(kamille("top")).isZero();
    assertThat(out.toString().lines())
        .containsSequence("URLS", "        10  http://shop.example/hot?q=1")
        .containsSequence("TAGS (OF HITS)", "         9  hot-tag")
        .anyMatch(line -> line.endsWith("  127.0.0.1"));
  }

  @Test
  void whatAPurgeRemovedIsFetchedAgainTheHottestFirstWithItsVariants() {
    origin.on("/warm/a", ok("x", "Cache-Control: max-age=60", "Surrogate-Key: warm"));
    origin.on(
        "/warm/b",
        ok("x", "Cache-Control: max-age=60", "Surrogate-Key: warm", "Vary: Accept-Language"));
    get("/warm/a");
    for (int i = 0; i < 3; i++) {
      get("/warm/b", "Accept-Language: de");
    }
    assertThat(kamille("purge", "--tag", "warm")).isZero();
    String number = out.toString().replaceAll("purge (\\d+).*\\n", "$1");
    int before = origin.requests().size();
    assertThat(kamille("warm", "--purge", number, "--rate", "10")).isZero();
    assertThat(out)
        .hasToString(
            "purge "
                + number
                + ", done: 2 of 2; 2 stored, 0 fresh already, 0 not stored, 0 failed, 0 skipped\n");
    List<StubOrigin.Request> asked = origin.requests().subList(before, before + 2);
    assertThat(asked.get(0).target()).isEqualTo("/warm/b");
    assertThat(asked.get(0).field("Accept-Language")).isEqualTo("de");
    assertThat(asked.get(1).target()).isEqualTo("/warm/a");
    assertThat(kamille("explain", "http://shop.example/warm/b", "-H", "Accept-Language: de"))
        .isZero();
    assertThat(out.toString()).startsWith("serve\n");
    assertThat(kamille("warm", "--purge", number, "--rate", "1000")).isZero();
    assertThat(out.toString()).contains("2 fresh already");
    assertThat(kamille("warm", "--purge", "4711")).isEqualTo(69);
  }

  @Test
  void urlsAreWarmedByOurOwnRouterAndOtherSitesAreNotAskedFor() {
    origin.on("/map?a&b", ok("x", "Cache-Control: max-age=60"));
    origin.on("/private", ok("x", "Cache-Control: private"));
    assertThat(
            kamille(
                "warm",
                "--rate",
                "1000",
                "http://shop.example/map?a&b",
                "http://elsewhere.example/",
                "http://shop.example/cart",
                "http://shop.example/private",
                "http://shop.example/gone"))
        .isEqualTo(69);
    assertThat(out.toString())
        .contains("done: 5 of 5; 1 stored", "1 not stored", "1 failed", "2 skipped")
        .contains("http://shop.example/cart: routes[].cache.bypass-paths: /cart: ")
        .contains("http://shop.example/private: the response is for one user")
        .contains("http://elsewhere.example/: ", "http://shop.example/gone: status 404");
    assertThat(origin.request("/private").field("User-Agent")).isEqualTo("Kamille-Warm-Up");
    assertThat(kamille("warm")).isEqualTo(64);
    assertThat(kamille("warm", "http://shop.example/map?a&b")).isZero();
    assertThat(kamille("warm", "http://shop.example/map?a&b", "--rate", "0")).isEqualTo(64);
    assertThat(err.toString()).endsWith("kamille: rate must be 1 to 1000 requests a second.\n");
    assertThat(kamille("warm", "shop.example/map")).isEqualTo(64);
    assertThat(err.toString()).contains("kamille: url: found \"shop.example/map\", expected a URL");
  }

  @Test
  void aWarmUpHasAtMost10000UrlsAnd1000RequestsASecondAnd2Mebibytes() throws IOException {
    for (int urls : new int[] {10_001, 50_000}) {
      assertThat(warm(urls, "1000", 0)).startsWith("400 ").contains("(1 to 10000 strings)");
    }
    for (String rate : List.of("1001", "1" + "0".repeat(400))) {
      assertThat(warm(1, rate, 0))
          .startsWith("400 ")
          .contains("rate must be 1 to 1000 requests a second.");
    }
    for (int octets : new int[] {(2 << 20) + 1, 3 << 20}) {
      assertThat(warm(1, "1", octets)).startsWith("413 ").contains("At most 2097152 octets");
    }
    assertThat(warmUp()).as("none has begun, or one before").doesNotContain("\"10000 URLs\"");
    assertThat(warm(10_000, "1000", 2 << 20)).startsWith("202 ").contains("\"10000 URLs\"");
    Await.until(() -> warmUp().contains("\"done\":10000,"), "the warm-up is over");
  }

  /** With URLs that no route has, and content of that many octets or as it comes. */
  private static String warm(int urls, String rate, int octets) throws IOException {
    String content =
        IntStream.range(0, urls)
            .mapToObj(i -> "\"http://none.example/" + i + '"')
            .collect(Collectors.joining(",", "{\"rate\":" + rate + ",\"urls\":[", "]}"));
    return api("POST", content + " ".repeat(Math.max(0, octets - content.length())));
  }

  private static String warmUp() {
    try {
      return api("GET", null);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String api(String method, @Nullable String content) throws IOException {
    LocalApi.Reply reply =
        new LocalApi(directory)
            .ask(method, "/v1/cache/warm", Map.of("Content-Type", "application/json"), content);
    return reply.status() + " " + reply.content();
  }

  @Test
  void aReloadNamesTheChangesOfIncludedFilesAndTheProblems() throws Exception {
    Path included = directory.resolve("sites/a.yaml");
    String before = Files.readString(included);
    Files.writeString(included, before.replace("included.example", "new.example"));
    assertThat(kamille("config", "reload")).isZero();
    assertThat(out).hasToString("routes[3].host: included.example → new.example\nversion 1 runs\n");
    Files.writeString(included, "broken: [");
    assertThat(kamille("config", "reload")).isEqualTo(78);
    assertThat(err.toString()).contains("a.yaml:1:10: ", "kamille: Nothing was changed.");
    Files.writeString(included, before);
    Path file = directory.resolve("kamille.yaml");
    String text = Files.readString(file);
    Files.writeString(file, text + "bogus: 1\n");
    assertThat(kamille("config", "reload")).isEqualTo(78);
    assertThat(err.toString()).contains(file + ":").contains(":1: bogus: unknown key");
    Files.writeString(file, text);
    assertThat(kamille("config", "reload")).isZero();
  }

  @Test
  void aProblemOfAFileThatIsRefusedNamesThatFile() throws Exception {
    String before = Files.readString(directory.resolve("kamille.yaml"));
    Path bad = Files.writeString(directory.resolve("bad.yaml"), before + "bogus: 1\n");
    for (String word : List.of("commit", "diff")) {
      err.getBuffer().setLength(0);
      assertThat(kamille("config", word, bad.toString())).isEqualTo(78);
      assertThat(err.toString()).startsWith(bad + ":").contains(":1: bogus: unknown key");
    }
    Path included = directory.resolve("sites/a.yaml");
    String right = Files.readString(included);
    Files.writeString(included, "broken: [");
    assertThat(kamille("config", "diff", bad.toString())).isEqualTo(78);
    assertThat(err.toString()).contains("a.yaml:1:10: ");
    Files.writeString(included, right);
  }

  @Test
  void aCommitSaysThatItsVersionCannotBeKept() throws Exception {
    Path file = directory.resolve("kamille.yaml");
    String before = Files.readString(file);
    Path next = Files.writeString(directory.resolve("next.yaml"), before + "# next\n");
    Path kept = Files.move(directory.resolve("config"), directory.resolve("config.kept"));
    Path full = Files.writeString(directory.resolve("config"), "no directory");
    assertThat(kamille("config", "commit", next.toString())).isZero();
    assertThat(out).hasToString("it runs\n");
    assertThat(err.toString()).startsWith("warning: its version cannot be kept");
    assertThat(file).hasSameTextualContentAs(next);
    Files.delete(full);
    Files.move(kept, full);
    Files.writeString(file, before);
    assertThat(kamille("config", "reload")).isZero();
    assertThat(out).hasToString("version 1 runs\n");
  }

  @Test
  void aPurgeSaysWhatItRemoved() {
    for (String page : new String[] {"/shoes/1", "/shoes/2"}) {
      origin.on(page, ok("x", "Cache-Control: max-age=60", "Surrogate-Key: shoes"));
      get(page);
    }
    assertThat(kamille("purge", "http://shop.example/shoes/1", "--dry-run")).isZero();
    assertThat(out).hasToString("1 response would be removed\n");
    assertThat(kamille("purge", "http://shop.example/shoes/1")).isZero();
    assertThat(out.toString()).matches("purge \\d+: 1 response removed\n");
    get("/shoes/1");
    assertThat(kamille("purge", "--tag", "shoes", "--tag", "boots", "--soft")).isZero();
    assertThat(out.toString()).matches("purge \\d+: 2 responses made stale\n");
    assertThat(kamille("purge", "--prefix", "http://shop.example/shoes/", "--json")).isZero();
    assertThat(out.toString()).contains("\"state\":\"done\",\"purged\":2");
    assertThat(kamille("purge", "--host", "*.example")).isEqualTo(64);
    assertThat(err.toString()).contains("host must name one host");
    assertThat(kamille("purge", "http://shop.example/shoes/*")).isEqualTo(64);
    assertThat(err.toString()).contains("kamille purge --prefix http://shop.example/shoes/\n");
    assertThat(kamille("purge", "--prefix", "http://shop.example/*")).isEqualTo(64);
    assertThat(kamille("purge", "nonsense")).isEqualTo(64);
    assertThat(err.toString()).contains("url: found \"nonsense\", expected a URL");
    assertThat(kamille("purge", "http://a/", "--host", "a")).isEqualTo(64);
    assertThat(kamille("purge")).isEqualTo(64);
  }
}
