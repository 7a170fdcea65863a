package io.kamille.launcher.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Problem;
import io.kamille.launcher.chain.RequestTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IncludedFilesTest {

  private static final String SHOP =
      """
      upstreams:
        shop: {origins: ["http://127.0.0.1:9001"]}
      routes:
        - {host: shop.test, upstream: shop}
      """;

  @TempDir private Path directory;

  private void write(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private ConfigurationReading read(String... lines) throws IOException {
    write("kamille.yaml", "listeners: [':0']\n" + String.join("\n", lines) + "\n");
    return ConfigurationFile.read(directory.resolve("kamille.yaml"));
  }

  private Configuration accepted(String... lines) throws IOException {
    ConfigurationReading reading = read(lines);
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }

  /** Without the directory. */
  private List<String> problems(String... lines) throws IOException {
    return ((ConfigurationReading.Refused) read(lines))
        .problems().stream()
            .map(Problem::toString)
            .map(line -> line.replace(directory + "/", ""))
            .toList();
  }

  @Test
  void routesAndUpstreamsStandWhereverTheyLike() throws IOException {
    write("sites/b.yaml", SHOP);
    write("sites/a.yml", "routes:\n  - {host: a.test, upstream: web}\n");
    write("sites/c.yaml", "upstreams:\n  web: {origins: ['http://127.0.0.1:9002']}\n");
    write("sites/.b.yaml", "an editor's copy");
    write("sites/notes.txt", "no configuration");
    Configuration all =
        accepted("include: [sites/*.yaml, sites/none*.yaml, sites/*.yml, sites/b.yaml]");
    assertThat(all.routes()).extracting(RouteSettings::host).containsExactly("a.test", "shop.test");
    assertThat(all.upstreams()).containsOnlyKeys("shop", "web");
    Configuration some =
        accepted(
            "include: [sites/b.yaml]",
            "routes: [{root: /tmp}]",
            "upstreams: {web: {origins: ['http://127.0.0.1:9002']}}");
    assertThat(some.routes()).extracting(RouteSettings::host).containsExactly(null, "shop.test");
    assertThat(some.upstreams()).containsOnlyKeys("web", "shop");
    assertThat(accepted("include: [sites/b.yaml]", "routes:").routes()).hasSize(1);
    assertThat(accepted("include: [sites/b.yaml]", "routes: []").routes()).hasSize(1);
    assertThat(accepted("include: []", "routes: [{root: /tmp}]").routes()).hasSize(1);
  }

  @Test
  void testsStandBesideTheirRoutes() throws IOException {
    write(
        "sites/a.yaml",
        SHOP + "tests:\n  - {request: http://shop.test/, expect: {upstream: other}}\n");
    Configuration all =
        accepted(
            "include: [sites/*.yaml]",
            "tests: [{request: http://shop.test/, expect: {upstream: shop}}]");
    assertThat(RequestTests.failed(all, "kamille.yaml"))
        .singleElement()
        .asString()
        .startsWith(
            directory + "/sites/a.yaml:6:53: tests[1].expect.upstream: found shop (route: it")
        .endsWith("expected other");
  }

  @Test
  void allPathsAreRelativeToTheDirectoryOfTheConfiguration() throws IOException {
    write("sites/a.yaml", "routes: [{host: a.test, root: www}]");
    write("token", "s3cret");
    Files.createDirectories(directory.resolve("www"));
    Configuration all =
        accepted(
            "include: [sites/*.yaml]",
            "routes: [{root: /tmp, response-headers: {set: {X-A: '${file:token}'}}}, {host: b.test,"
                + " upstream: b, auth: {jwt: {keys: 'https://b.test/', issuer: a, audience:"
                + " [b]}}}]",
            "upstreams: {b: {origins-file: ../b.txt, origins: ['http://127.0.0.1:1']}}",
            "log: {access: {output: stdout}}",
            "acme: {dns-hook: [./hook, ./word]}",
            "cache: {disk: {path: cache, capacity: 1GiB}}");
    assertThat(all.routes())
        .extracting(route -> route.actions().root())
        .containsExactlyInAnyOrder(Path.of("/tmp"), null, directory.resolve("www"));
    assertThat(all.cache().disk().path()).isEqualTo(directory.resolve("cache"));
    assertThat(all.upstream("b").originsFile()).isEqualTo(directory.resolve("../b.txt"));
    assertThat(all.routes().get(0).actions().responseHeaders().set().get("X-A"))
        .hasFieldOrPropertyWithValue("text.value", "s3cret");
    assertThat(all.routes().get(1).auth().jwt().keys()).isEqualTo("https://b.test/");
    assertThat(all.acme().dnsHook()).containsExactly(directory + "/./hook", "./word");
  }

  @Test
  void problemsNameTheFileAndTheLine() throws IOException {
    write("sites/a.yaml", "routes:\n  - {host: a.test, upstraem: shop}\n");
    write("sites/b.yaml", SHOP);
    write("sites/c.yaml", SHOP);
    write("sites/d.yaml", "loops: x\nroutes: 1\n");
    write("sites/e.yaml", "routes: [\n");
    write("sites/f.yaml", "- 1\n");
    assertThat(problems("include: [sites/*.yaml]", "routes: [{host: shop.test, root: /tmp}]"))
        .contains(
            "sites/c.yaml:2:3: upstreams.shop: found the key a second time, expected it only once"
                + " (first in line 2 of sites/b.yaml)",
            "sites/d.yaml:1:8: loops: found \"x\", expected a whole number of 1–1024",
            "sites/d.yaml:2:9: routes: found \"1\", expected a list",
            "sites/f.yaml:1:1: found a list, expected a section")
        .anySatisfy(line -> assertThat(line).startsWith("sites/a.yaml:2:20: routes[1].upstraem: "))
        .anySatisfy(line -> assertThat(line).startsWith("sites/e.yaml:2:1: found "))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("sites/b.yaml:4:5: routes[2]: found the host and path of routes[0]")
                    .contains(" in line 3 of the configuration's own file"));
  }

  @Test
  void aStarInADirectoryThatIsNotThereMatchesNone() throws IOException {
    assertThat(accepted("include: [no/*.yaml]", "routes: [{root: /tmp}]").routes()).hasSize(1);
  }

  @Test
  void filesThatCannotBeReadAreNamed() throws IOException {
    Files.createDirectories(directory.resolve("sites/d.yaml"));
    assertThat(problems("include: [sites/no.yaml, no/*.yaml, sites/d.yaml]", "routes: [{root: /}]"))
        .containsExactly(
            "kamille.yaml:2:11: include: found no file sites/no.yaml, expected files that can be"
                + " read",
            "kamille.yaml:2:37: include: found sites/d.yaml: it is no regular file, expected files"
                + " that can be read");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/etc/x.yaml",
        "../x.yaml",
        "a/../../x.yaml",
        "a/../x.yaml",
        "secret",
        "a*/x.yaml",
        "x.yaml/",
        "a//x.yaml",
        "[ab].yaml",
        "..",
        "x.json"
      })
  void onlyFilesOfItsKindBelowItsDirectoryAreIncluded(String name) throws IOException {
    assertThat(problems("include: ['" + name + "']", "routes: [{root: /tmp}]"))
        .singleElement()
        .asString()
        .contains("include[0]: found", "a file below this one's directory that ends with .yaml");
  }

  @Test
  void thereAreLimits() throws IOException {
    write("sites/0.yaml", "#".repeat(60_000).concat("\n").repeat(69) + SHOP);
    write("sites/1.yaml", "#".repeat(60_000).concat("\n") + SHOP);
    assertThat(problems("include: [sites/*.yaml]", "routes: [{root: /tmp}]"))
        .containsExactly(
            "kamille.yaml:2:11: include: found more than 4MiB in files, expected files that can be"
                + " read");
    for (int i = 0; i < 1_025; i++) {
      Files.createFile(Files.createDirectories(directory.resolve("many")).resolve(i + ".yaml"));
    }
    assertThat(problems("include: [many/*.yaml]", "routes: [{root: /tmp}]"))
        .anyMatch(line -> line.contains("found more than 1024 files"));
  }

  @Test
  void anIncludedFileIncludesNothing() throws IOException {
    write("a.yaml", "include: [b.yaml]\n");
    assertThat(problems("include: [a.yaml]", "routes: [{root: /tmp}]"))
        .singleElement()
        .asString()
        .startsWith("a.yaml:1:1: include: a setting that an included file cannot have");
  }

  @Test
  void aSectionOfTwoFilesIsOneAndNoSettingStandsTwice() throws IOException {
    write(
        "node.yaml",
        """
        loops: 2
        listeners: [':1']
        cache: {memory: {capacity: 8MiB}}
        log: {access: {output: stdout}}
        """);
    String[] own = {
      "include: [node.yaml]",
      "routes: [{root: /tmp}]",
      "cache: {max-object-size: 1MiB}",
      "log: {access: {format: json}}"
    };
    Configuration both = accepted(own);
    assertThat(both.loops()).isEqualTo(2);
    assertThat(both.listeners()).hasSize(2);
    assertThat(both.cache().memory().capacityBytes()).isEqualTo(8 << 20);
    assertThat(both.cache().maxObjectSizeBytes()).isEqualTo(1 << 20);
    assertThat(
            problems(
                "loops: 1",
                "include: [node.yaml]",
                "routes: [{root: /tmp}]",
                "cache: {memory: {capacity: 1MiB}}",
                "log:",
                "log: {access: off}"))
        .containsExactly(
            "kamille.yaml:6:1: log: found the key a second time, expected it only once (first in"
                + " line 7)",
            "kamille.yaml:7:7: log.access: found the key a second time, expected it only once"
                + " (first in line 4 of node.yaml)",
            "node.yaml:1:1: loops: found the key a second time, expected it only once (first in"
                + " line 2 of the configuration's own file)",
            "node.yaml:3:18: cache.memory.capacity: found the key a second time, expected it only"
                + " once (first in line 5 of the configuration's own file)");
  }

  @Test
  void notesAndWarningsNameTheFile() throws IOException {
    write(
        "a.yaml",
        SHOP
            + "  - {host: shop.test, path: /a, upstream: shop, access: {allow: ['::1'],"
            + " deny: ['::1']}}\n");
    String main = directory.resolve("kamille.yaml").toString();
    assertThat(Shadows.of(main, accepted("include: [a.yaml]")))
        .singleElement()
        .asString()
        .startsWith(directory.resolve("a.yaml") + ":5:5: note: routes[1].access.allow: ::1");
  }

  // Values from files

  private String header(String value) {
    return "routes: [{upstream: web, request-headers: {set: {X-A: '"
        + value.replace("DIR", directory.toString())
        + "'}}}]\nupstreams: {web: {origins: ['http://127.0.0.1:9002']}}";
  }

  @Test
  void aFieldMayHaveItsValueFromAFileAndPrintsWithoutIt() throws IOException {
    write("token", "s3cret\n");
    Configuration first = accepted(header("Bearer ${file:DIR/token}!"));
    var field = first.routes().getFirst().actions().requestHeaders().set().get("X-A");
    assertThat(Objects.requireNonNull(field).text().value()).isEqualTo("Bearer s3cret!");
    assertThat(field.toString()).contains("${file:").doesNotContain("s3cret");
    write("token", "0ther");
    Configuration next = accepted(header("Bearer ${file:DIR/token}!"));
    assertThat(next.changesFrom(first))
        .singleElement()
        .satisfies(change -> assertThat(change.toString()).doesNotContain("s3cret", "0ther"));
  }

  @Test
  void whyAFileHasNoValueIsSaidWithoutWhatIsInIt() throws IOException {
    write("two", "s3cret\ns3cret\n");
    write("large", "s".repeat(8193));
    Files.createDirectories(directory.resolve("dir"));
    String at = "kamille.yaml:2:55: routes[0].request-headers.set.X-A.value: found \"${file:";
    assertThat(problems(header("${file:DIR/two}")))
        .containsExactly(
            at + "two}\", expected a file with visible ASCII, spaces and tabs, not at either end");
    assertThat(problems(header("${file:DIR/large}")))
        .containsExactly(at + "large}\", expected a file that can be read (more than 8KiB)");
    assertThat(problems(header("${file:DIR/none}")))
        .containsExactly(
            at + "none}\", expected a file that can be read (no file of this" + " name)");
    assertThat(problems(header("${file:DIR/dir}")))
        .containsExactly(
            at + "dir}\", expected a file that can be read (it is no regular" + " file)");
    assertThat(problems(header("${file:}"))).hasSize(1);
  }
}
