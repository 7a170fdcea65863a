package io.kamille.launcher.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page Cluster, and purges at several nodes, at a node that is a cluster by itself. */
class UiClusterIT {

  /** This node is cut off, one leaves with a configuration of its own, and one is away for good. */
  private static final String TROUBLED =
      """
      {"name":"shop","node":"a","leader":null,"term":3,"quorum":false,"current":false,"applied":41,
       "behind":2,"waiting":7,"members":[
        {"node":"a","state":"member","voter":true,"leader":false,"current":false,"applied":41,
         "peers":"","seconds":0.4},
        {"node":"b","state":"draining","voter":true,"leader":false,"current":true,"applied":1042,
         "diverged":true,"version":"1.2.3","peers":"","seconds":2.2},
        {"node":"c","state":"away","voter":true,"leader":false,"current":false,"applied":40,
         "peers":"","seconds":600},
        {"node":"<b>d</b>","state":"away","voter":false,"leader":false,"current":false,"applied":0,
         "peers":"","seconds":-1}]}
      """;

  @TempDir private Path directory;
  private KamilleProcess kamille;

  @BeforeEach
  void start() throws IOException {
    ClusterFiles files = new ClusterFiles(directory.resolve("cluster"), "shop");
    Files.createDirectory(files.directory());
    files.write(List.of(new ClusterFiles.Node("a", free(), free())), Instant.now());
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ["127.0.0.1:0"]
            routes: [{respond: {status: 200}}]
            admin: {address: "127.0.0.1:0"}
            """
                + Files.readString(files.file("a.yaml"))
                + "  config: local\n");
    kamille = KamilleProcess.start(directory, "run", "--config", file.toString());
    kamille.awaitLine("admin on ");
  }

  private static HostPort free() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return new HostPort("127.0.0.1", socket.getLocalPort());
    }
  }

  @AfterEach
  void stop() throws Exception {
    kamille.close();
  }

  private Browser signedIn(ColorScheme scheme, int width) throws IOException {
    String code =
        new LocalApi(directory).ask("POST", "/v1/session/codes", Map.of(), null).content();
    Browser browser = new Browser(scheme, width);
    browser.page().navigate(code.replaceAll(".*\"url\":\"([^\"]+)\".*", "$1").strip());
    browser.page().locator("nav").waitFor();
    return browser;
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  private static void answer(Page page, String path, String method, int status, String content) {
    page.route(
        "**" + path,
        route -> {
          if (route.request().method().equals(method)) {
            route.fulfill(
                new Route.FulfillOptions()
                    .setStatus(status)
                    .setContentType("application/json")
                    .setBody(content));
          } else {
            route.resume();
          }
        });
  }

  @Test
  void aClusterOfOneIsWhole() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("cluster");
      assertThat(page.locator("main h1")).hasText("This node is alone.");
      assertThat(page.locator("main .sub"))
          .hasText("a is the leader. This node reaches a majority of the voters.");
      assertThat(page.locator("main tbody tr")).hasCount(1);
      assertThat(page.locator("main tbody .pill")).hasText("member");
      assertThat(page.locator("main tbody")).containsText("leader, voter");
      assertThat(page.locator("main .note")).hasCount(0);
      assertThat(page.locator("main tbody button")).hasCount(0);
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"LIGHT, 1440", "DARK, 768", "DARK, 320"})
  void eachNodeHasItsStateInWordsAndTroubleIsSaid(ColorScheme scheme, int width)
      throws IOException {
    try (Browser browser = signedIn(scheme, width)) {
      Page page = browser.page();
      answer(page, "/v1/cluster", "GET", 200, TROUBLED);
      browser.show("cluster");
      assertThat(page.locator("main h1")).hasText("c, <b>d</b> are away.");
      assertThat(page.locator("main .sub")).containsText("There is no leader.");
      assertThat(page.locator("main .note.bad")).containsText("Purges wait for a majority");
      assertThat(page.locator("main .note.bad")).containsText("This node is cut off");
      Locator rows = page.locator("main tbody tr");
      assertThat(rows.nth(0).locator(".pill")).hasText(new String[] {"cut off"});
      assertThat(rows.nth(1).locator(".pill")).hasText(new String[] {"draining", "diverged"});
      assertThat(rows.nth(1)).containsText("1.2.3");
      assertThat(page.locator("main .note.bad")).containsText("The configuration of b differs");
      assertThat(rows.nth(1)).containsText("1,042");
      assertThat(rows.nth(2).locator(".pill")).hasText(new String[] {"away"});
      assertThat(rows.nth(2)).containsText("10\u00a0min ago");
      assertThat(rows.nth(3)).containsText("follower");
      assertThat(page.locator("main tbody button")).hasCount(1);
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aNodeThatIsAwayForGoodIsForgotten() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      answer(page, "/v1/cluster", "GET", 200, TROUBLED);
      answer(page, "/v1/cluster/nodes/%3Cb%3Ed%3C%2Fb%3E", "DELETE", 204, "");
      browser.show("cluster");
      button(page, "Forget <b>d</b>").click();
      assertThat(page.locator("main .note.ok")).containsText("<b>d</b> is forgotten.");
      page.unroute("**/v1/cluster/nodes/%3Cb%3Ed%3C%2Fb%3E");
      button(page, "Forget <b>d</b>").click();
      assertThat(page.locator("main [aria-live] .note.bad")).hasText("No node has this name.");
    }
  }

  private static void purge(Browser browser) {
    Page page = browser.page();
    browser.show("cache");
    page.locator("input[name=what]").fill("http://h/page");
    button(page, "Rehearse").click();
    assertThat(page.locator("main")).containsText("0 stored responses at this node");
    button(page, "Remove them").click();
  }

  @Test
  void aPurgeHasATickForEachNode() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      purge(browser);
      Locator note = browser.page().locator("main .note.ok");
      assertThat(note).containsText("Purge 1 holds at all nodes.");
      assertThat(note.locator(".pill")).hasText(new String[] {"✓ a"});
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"LIGHT, 1440", "DARK, 320"})
  void aPurgeThatANodeHasMissedSaysWhenItIsSafe(ColorScheme scheme, int width) throws IOException {
    try (Browser browser = signedIn(scheme, width)) {
      purgeAnswered(
          browser,
          202,
          """
          {"id":4711,"state":"away","complete":false,"safeIn":"15s","nodes":[
            {"node":"a","state":"done","purged":1},{"node":"b","state":"done","purged":0},
            {"node":"c","state":"away","purged":0}]}
          """);
      Locator note = browser.page().locator("main .note.warn");
      assertThat(note).containsText("Purge 4711 is in the log: safe in 15\u00a0s");
      assertThat(note.locator(".pill"))
          .hasText(new String[] {"✓ a: 1 response", "✓ b", "c is away"});
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aPurgeWithoutMajoritySaysWhatIsDone() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      purgeAnswered(
          browser,
          503,
          """
          {"type":"/problems/no-quorum","detail":"The purge is not in the log yet.","errors":[
            {"node":"a","state":"done","purged":0},{"node":"b","state":"away","purged":0}]}
          """);
      Locator note = browser.page().locator("main .note.bad");
      assertThat(note).containsText("The purge is not in the log yet. The rest follows");
      assertThat(note.locator(".pill")).hasText(new String[] {"✓ a", "b is away"});
      assertThat(browser.violations()).isEmpty();
    }
  }

  /** What the node answers to the second request: the first one rehearses. */
  private static void purgeAnswered(Browser browser, int status, String content) {
    browser
        .page()
        .route(
            "**/v1/cache/purges",
            route -> {
              String sent = String.valueOf(route.request().postData());
              if (route.request().method().equals("POST") && !sent.contains("dry_run")) {
                route.fulfill(
                    new Route.FulfillOptions()
                        .setStatus(status)
                        .setContentType("application/json")
                        .setBody(content));
              } else {
                route.resume();
              }
            });
    purge(browser);
  }
}
