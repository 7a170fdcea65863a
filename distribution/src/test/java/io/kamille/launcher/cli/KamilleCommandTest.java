package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.tls.Certificates;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the command line answers, and with which exit code. */
class KamilleCommandTest {

  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void unknownWordsAreOneSentenceAndAHint() {
    assertThat(execute("rum")).isEqualTo(64);
    assertThat(err.toString().lines()).hasSize(2);
    assertThat(err.toString()).startsWith("kamille: ").contains("rum").contains("run");
    assertThat(execute("check", "--confg", "x")).isEqualTo(64);
    assertThat(execute("run", "--listen", ":0")).isEqualTo(64);
    assertThat(execute("version", "please")).isEqualTo(64);
    assertThat(execute()).isEqualTo(64);
  }

  @Test
  void aRunWithoutWordsSaysWhatItNeeds() {
    assertThat(execute("run")).isEqualTo(64);
    assertThat(err.toString())
        .isEqualTo(
            """
            kamille: nothing to run: give --config FILE, or --listen ADDRESS and --origin URL
            Try: kamille run --help
            """);
    assertThat(execute("run", "--config", "a.yaml", "--listen", ":0", "--origin", "http://b"))
        .isEqualTo(64);
    assertThat(execute("run", "--help")).isZero();
    assertThat(out.toString()).startsWith("Usage: kamille run --config FILE");
  }

  @Test
  void aFileThatCannotBeReadIs66() {
    Path missing = directory.resolve("missing.yaml");
    assertThat(execute("check", "--config", missing.toString())).isEqualTo(66);
    assertThat(err.toString()).contains(missing.toString()).contains("no file of this name");
    assertThat(execute("run", "--config", missing.toString())).isEqualTo(66);
    assertThat(execute("check", "--config", directory.toString())).isEqualTo(66);
  }

  @Test
  void aBrokenAuditLogIs65() throws IOException {
    Path log = Files.writeString(directory.resolve("audit.jsonl"), "{}\n");
    assertThat(execute("audit", "verify", log.toString())).isEqualTo(65);
    assertThat(err.toString()).contains(log + ": line 1: ");
  }

  @Test
  void fiveMistakesAreFiveLinesWithTheirPlaces() throws IOException {
    Path file =
        write(
            """
            listeners:
              - address: 127.0.0.1:99999
            upstreams:
              site:
                origins: [http://127.0.0.1:9000]
                conect-timeout: 1s
            routes:
              - upstream: sight
            cache:
              memory:
                capacity: much
            limits:
              connections: 0
            """);
    assertThat(execute("check", "--config", file.toString())).isEqualTo(78);
    String text = err.toString();
    assertThat(text.lines().filter(line -> line.startsWith(file + ":"))).hasSize(5);
    assertThat(text)
        .contains(file + ":2:14")
        .contains(file + ":6:5")
        .contains("connect-timeout")
        .contains(file + ":8:15")
        .contains(file + ":11:15")
        .contains(file + ":13:16")
        .endsWith("kamille: 5 problems\n");
    assertThat(execute("run", "--config", file.toString())).isEqualTo(78);
  }

  @Test
  void aGoodFileHasNoProblems() throws IOException {
    Path file =
        write(
            """
            listeners: [':0']
            upstreams: {a: {origins: ['http://b']}}
            routes: [{upstream: a}]
            """);
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString()).isEqualTo(file + ": no problems\n");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void eachWrongLineOfAFileOfUsersIsAProblem() throws IOException {
    Path users = Files.writeString(directory.resolve("users"), "anna:secret\nbert\n");
    Path file =
        write(
            """
            listeners: [':0']
            upstreams: {a: {origins: ['http://b']}}
            routes: [{upstream: a, auth: {basic: {users-file: users}}}]
            """);
    assertThat(execute("check", "--config", file.toString())).isEqualTo(78);
    assertThat(err.toString().lines())
        .containsExactly(
            users
                + ":1:1: found a wrong line, expected a bcrypt hash of cost 4–16 as htpasswd -B"
                + " writes it, or PBKDF2",
            users + ":2:1: found a wrong line, expected NAME:HASH",
            "kamille: 2 problems");
  }

  @Test
  void aTestThatFailsIsNamedWithItsPlaceAndWhy() throws IOException {
    Path file =
        write(
            """
            listeners: [':0']
            upstreams: {a: {origins: ['http://b']}}
            routes: [{upstream: a, cache: {bypass-cookies: [id]}}]
            tests:
              - {request: http://b.org/, fields: {Cookie: id=1}, expect: {cache: bypass}}
              - {request: http://b.org/, fields: {Cookie: ide=1}, expect: {cache: bypass}}
            """);
    assertThat(execute("check", "--config", file.toString())).isEqualTo(78);
    assertThat(err.toString())
        .startsWith(
            file + ":6:71: tests[1].expect.cache: found lookup (route: it takes the route */, to")
        .endsWith("kamille: 1 problem\n");
    Files.writeString(file, Files.readString(file).replace("ide=1", "id=2"));
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString()).isEqualTo(file + ": no problems, tests passed: 2\n");
  }

  @Test
  void theNamesOfCertificatesThatWouldBeOrderedAreShown() throws IOException {
    Path file =
        write(
            """
            listeners: [{address: ':443', tls: acme}]
            acme: {terms-agreed: on, contact: a@b.org}
            upstreams: {a: {origins: ['http://b']}}
            routes: [{upstream: a, host: b.org}, {upstream: a, host: a.org}, {upstream: a}]
            """);
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString())
        .isEqualTo("certificates: ordered for b.org, a.org\n" + file + ": no problems\n");
    Files.writeString(file, Files.readString(file).replace("terms-agreed: on, ", ""));
    assertThat(execute("check", "--config", file.toString())).isEqualTo(78);
    assertThat(err.toString()).contains(file + ":2:7: acme.terms-agreed: found");
  }

  @Test
  void aRunThatCannotOrderEndsBeforeItListens() {
    String[] words = {
      "run", "--listen", ":443", "--origin", "http://b", "--tls", "acme", "--name", "a.org,shop"
    };
    assertThat(execute(words)).isEqualTo(78);
    assertThat(err.toString()).contains("acme.terms-agreed").contains("found \"shop\"");
  }

  @Test
  void aCertificateOutOfItsTimeIsAWarning() throws Exception {
    Certificates.write(new Certificates("authority").expired("a.test"), directory, "old");
    String tls = "{chain: " + directory + "/old.pem, key: " + directory + "/old.key}";
    Path file =
        write(
            "listeners: [{address: ':0', tls: {certificates: ["
                + tls
                + "]}}]\nroutes: [{respond: 204}]\n");
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString()).contains("warning: " + directory + "/old.pem: it has expired at ");
    String own = "{certificate: " + directory + "/old.pem, key: " + directory + "/old.key}";
    String origin = "upstreams: {a: {origins: ['https://a.test'], tls: " + own + "}}\n";
    out.getBuffer().setLength(0);
    file = write("listeners: [':0']\n" + origin + "routes: [{upstream: a}]\n");
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString()).contains("warning: " + directory + "/old.pem: it has expired at ");
  }

  @Test
  void filesOfOriginsAreReadAndJudgedToo() throws IOException {
    Path origins = directory.resolve("origins.yaml");
    Path file =
        write(
            "listeners: [':0']\nupstreams: {a: {origins-file: "
                + origins
                + "}}\nroutes: [{upstream: a}]\n");
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(err.toString())
        .isEqualTo(
            origins
                + ": found no file of this name, expected a file that can be read;"
                + " it gives a no origins yet\n");
    Files.writeString(origins, "origins:\n- http://b\n- ftp://c\n- {url: 'http://d', wait: 2}\n");
    assertThat(execute("check", "--config", file.toString())).isEqualTo(78);
    assertThat(err.toString())
        .contains(origins + ":3:3: ", origins + ":4:21: ")
        .endsWith("kamille: 2 problems\n");
    Files.writeString(origins, "origins: ['http://b']\n");
    assertThat(execute("check", "--config", file.toString())).isZero();
    Files.delete(origins);
    Files.createDirectory(origins);
    assertThat(execute("check", "--config", file.toString())).isEqualTo(66);
    assertThat(err.toString()).contains(origins + ": found an error while reading it (it is no");
  }

  @Test
  void whatHasNoEffectIsSaidAndIsNoProblem() throws IOException {
    Path file =
        write(
            """
            listeners: [':0']
            upstreams: {a: {origins: ['http://b']}}
            routes:
              - {upstream: a, cache: {bypass-paths: [/x]}}
              - {upstream: a, path: /x}
            """);
    assertThat(execute("check", "--config", file.toString())).isZero();
    assertThat(out.toString())
        .isEqualTo(
            file
                + ":4:5: note: routes[0].cache.bypass-paths: /x has no effect, because it belongs"
                + " to routes[1]\n"
                + file
                + ": no problems\n");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void badWordsForARunAreNamedByTheirOption() {
    assertThat(execute("run", "--listen", "nowhere", "--origin", "ftp://b", "--memory", "much"))
        .isEqualTo(78);
    assertThat(err.toString()).contains("--listen").contains("--origin").contains("--memory");
  }

  @Test
  void anAddressThatIsTakenIs69() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      assertThat(run("--listen", address, "--admin", "off")).isEqualTo(69);
      assertThat(err.toString())
          .isEqualTo("kamille: cannot listen on " + address + ": Address already in use\n");
      assertThat(run("--listen", "127.0.0.1:0", "--admin", address)).isEqualTo(69);
      assertThat(err.toString())
          .isEqualTo(
              "kamille: cannot serve the admin API on " + address + ": Address already in use\n");
    }
  }

  @Test
  void anAddressOfAnotherMachineIs69() {
    assertThat(run("--listen", "192.0.2.1:8080", "--admin", "off")).isEqualTo(69);
    assertThat(err.toString()).startsWith("kamille: cannot listen on 192.0.2.1:8080: ");
  }

  @Test
  void moreMemoryThanThereIsIs71() {
    assertThat(run("--listen", "127.0.0.1:0", "--admin", "off", "--memory", "16TiB")).isEqualTo(71);
    assertThat(err.toString()).startsWith("kamille: too little memory: ");
    assertThat(err.toString().lines()).hasSize(1);
  }

  @Test
  void aLogThatCannotBeWrittenIsAProblemOfTheConfiguration() throws IOException {
    Path file =
        write(
            """
            listeners: ['127.0.0.1:0']
            upstreams: {a: {origins: ['http://127.0.0.1:1']}}
            routes: [{upstream: a}]
            cache: {memory: {capacity: 1MiB}}
            log: {access: {enabled: on, output: /nowhere/access.log}}
            admin: {address: 'off'}
            """);
    for (String command : List.of("run", "check")) {
      assertThat(execute(command, "--config", file.toString())).isEqualTo(78);
      assertThat(err.toString())
          .contains(":5:37: log.access.output: found \"/nowhere/access.log\"")
          .contains("its directory does not exist");
    }
  }

  @Test
  void theVersionIsThatOfTheBuildAndNamesWhatItRunsOn() throws IOException {
    assertThat(execute("version")).isZero();
    assertThat(out.toString())
        .startsWith("kamille " + versionOfThePom() + "\n")
        .contains("java 2")
        .contains("netty 4.2");
  }

  private static String versionOfThePom() throws IOException {
    Matcher revision =
        Pattern.compile("<revision>(.*)</revision>")
            .matcher(Files.readString(Path.of("../pom.xml")));
    assertThat(revision.find()).isTrue();
    return revision.group(1);
  }

  @Test
  void completionKnowsTheCommands() {
    assertThat(execute("completion")).isZero();
    assertThat(out.toString()).contains("complete ").contains("--config").contains("check");
  }

  @Test
  void helpNamesCommandsAndExitCodes() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString())
        .contains("run", "check", "version", "completion", "demo")
        .contains("64", "66", "69", "70", "71", "78", "130")
        .contains("read or written");
    assertThat(out.toString().lines().toList())
        .hasSizeLessThanOrEqualTo(36)
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80))
        .containsSubsequence("Commands:", "Rare commands:");
  }

  @Test
  void theSynopsisOfRunNamesEveryOptionAndNoLineWraps() {
    assertThat(execute("run", "--help")).isZero();
    String help = out.toString();
    assertThat(help.substring(0, help.indexOf("Run the proxy")))
        .contains("--config", "--listen", "--origin", "--admin", "--memory", "--loops", "--pacing");
    assertThat(help)
        .contains(
            """
            let exchanges finish and exit with 0;
            a second one exits at once. SIGHUP reads the file again and reopens the
            access log. SIGUSR1 reopens the access log alone.
            """);
  }

  @Test
  void theValueOfAnUnknownOptionIsNoOption() {
    assertThat(execute("run", "--listn", "x", "--origin", "http://b")).isEqualTo(64);
    assertThat(err.toString()).startsWith("kamille: unknown option --listn\n").contains("--listen");
  }

  private int run(String... words) {
    String[] arguments = new String[words.length + 3];
    System.arraycopy(new String[] {"run", "--origin", "http://127.0.0.1:1"}, 0, arguments, 0, 3);
    System.arraycopy(words, 0, arguments, 3, words.length);
    return execute(arguments);
  }

  private int execute(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return KamilleCommand.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments);
  }

  private Path write(String text) throws IOException {
    return Files.writeString(directory.resolve("kamille.yaml"), text);
  }
}
