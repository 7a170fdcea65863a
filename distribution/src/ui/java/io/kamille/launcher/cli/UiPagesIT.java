package io.kamille.launcher.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The browser UI of the demo, as Chromium shows it: {@code ./dev test --ui}. */
class UiPagesIT {

  /** Presses a button; tells after how many milliseconds then and now stand in the page. */
  private static final String UNTIL_EXPLAINED =
      """
      async (why) => {
        const begin = performance.now();
        why.click();
        while (!document.querySelector(".drawer ol.steps li")) await new Promise(requestAnimationFrame);
        return performance.now() - begin;
      }
      """;

  @TempDir private Path directory;
  private KamilleProcess kamille;
  private String site;

  @BeforeEach
  void start() throws IOException {
    kamille =
        KamilleProcess.start(
            directory,
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--listen-tls",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0",
            "--visitors",
            "20");
    site = kamille.awaitLine("the site, through Kamille");
    kamille.awaitLine("Ctrl-C stops it");
  }

  @AfterEach
  void stop() throws Exception {
    kamille.close();
  }

  private Browser signedIn(ColorScheme scheme, int width) {
    Browser browser = new Browser(scheme, width);
    browser.page().navigate(kamille.awaitLine("its pages, for a minute"));
    browser.page().locator("nav").waitFor();
    return browser;
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  @ParameterizedTest
  @CsvSource({"LIGHT, 1440", "LIGHT, 768", "LIGHT, 320", "DARK, 1440", "DARK, 768", "DARK, 320"})
  void everyPageIsWithoutErrorsAndForEverybody(ColorScheme scheme, int width) {
    String link = kamille.awaitLine("its pages, for a minute");
    try (Browser browser = new Browser(scheme, width)) {
      browser.page().navigate(link.substring(0, link.indexOf('#')));
      assertThat(button(browser.page(), "Sign in")).isVisible();
      assertThat(browser.violations()).as("sign-in").isEmpty();
      assertThat(browser.isTooWide()).as("sign-in").isFalse();
      browser.page().navigate("about:blank");
      browser.page().navigate(link);
      browser.page().locator("nav").waitFor();
      List<String> pages =
          browser.page().locator("nav a").all().stream()
              .map(each -> each.getAttribute("href").substring(1))
              .toList();
      assertThat(pages).hasSizeGreaterThan(7);
      for (String page : pages) {
        browser.show(page);
        assertThat(browser.violations()).as(page).isEmpty();
        assertThat(browser.isTooWide()).as(page + " is wider than " + width).isFalse();
      }
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {320, 1280})
  void aTrialCountsDownOnEveryPageAndIsReverted(int width) {
    try (Browser browser = signedIn(ColorScheme.LIGHT, width)) {
      Page page = browser.page();
      browser.show("configuration");
      Locator text = page.locator("textarea[name=yaml]");
      assertThat(text).hasValue(Pattern.compile("ttl: 10s"));
      text.fill(text.inputValue().replace("ttl: 10s", "ttl: 20s"));
      button(page, "What changes?").click();
      assertThat(page.locator("main")).containsText("+        ttl: 20s");
      page.locator("select[name=confirm]").selectOption("15m");
      button(page, "Commit").click();
      assertThat(page.locator("header .trial")).containsText(Pattern.compile("14:5\\d"));
      browser.show("overview");
      assertThat(page.locator("header .trial")).containsText(Pattern.compile("14:[45]\\d"));
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.violations()).isEmpty();
      button(page, "Revert").click();
      assertThat(page.locator("header .trial")).isEmpty();
      browser.show("configuration");
      assertThat(text).hasValue(Pattern.compile("ttl: 10s"));
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aChangeIsCommittedWithoutCommentOrTrial() {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("configuration");
      Locator text = page.locator("textarea[name=yaml]");
      assertThat(text).hasValue(Pattern.compile("ttl: 10s"));
      text.fill(text.inputValue().replace("ttl: 10s", "ttl: 40s"));
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Commit").setExact(true))
          .click();
      assertThat(page.locator("main .note")).containsText("Version 2 runs.");
      assertThat(text).hasValue(Pattern.compile("ttl: 40s"));
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void allTabsSignOutAndInTogether() throws IOException {
    String token = Files.readString(directory.resolve("demo/admin-token")).strip();
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page first = browser.page();
      Page other = first.context().newPage();
      other.navigate(first.url());
      other.locator("nav").waitFor();
      first.route(
          "**/v1/audit?*",
          route -> route.fulfill(new Route.FulfillOptions().setStatus(401)),
          new Page.RouteOptions().setTimes(1));
      first.evaluate("() => { location.hash = 'audit'; }");
      assertThat(first.locator("main .note")).containsText("The session is over.");
      assertThat(other.locator("main .note")).containsText("The session is over.");
      first.locator("input[name=token]").fill(token);
      button(first, "Sign in").click();
      assertThat(first.locator("header .state")).containsText("Serving");
      assertThat(other.locator("header .state")).containsText("Serving");
    }
  }

  /** What clients send is shown as text, whatever it looks like. */
  @Test
  void markupOfClientsIsText() throws IOException {
    String markup = "<img/src=x/onerror=document.title='gone'>";
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280);
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), URI.create(site).getPort())) {
      socket
          .getOutputStream()
          .write(
              ("GET /hostile?"
                      + markup
                      + " HTTP/1.1\r\nHost: a'b.example\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
          .startsWith("HTTP/1.1 ");
      Page page = browser.page();
      browser.show("traffic");
      page.locator("input[name=filter]").fill("/hostile");
      page.locator("input[name=filter]").press("Enter");
      // The top lists show it, too, if the request was among their samples.
      assertThat(page.locator("main img").count()).isZero();
      Locator rows = page.locator("tr", new Page.LocatorOptions().setHasText(markup));
      rows.locator("button").first().click();
      assertThat(page.locator(".drawer")).containsText(markup);
      browser.show("cache");
      page.locator("input[name=what]").fill("http://h/" + markup);
      button(page, "Rehearse").click();
      page.locator("main .note").first().waitFor();
      assertThat(page.locator("main img").count()).isZero();
      assertThat(page.title()).isEqualTo("Cache · Kamille");
    }
  }

  @Test
  void aLineOfTheLogTellsWhyItWasAMiss() {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("traffic");
      page.locator("input[name=filter]").fill("/now");
      page.locator("input[name=filter]").press("Enter");
      button(page, "Pause").click();
      Locator why = page.locator("button[aria-label^='Why miss for']").first();
      var millis = (Number) why.evaluate(UNTIL_EXPLAINED); // whole ones come as an Integer
      assertThat(millis.doubleValue()).as("milliseconds").isLessThan(1000);
      assertThat(page.locator(".drawer")).containsText("Then");
      assertThat(page.locator(".drawer")).containsText("by route");
      assertThat(page.locator(".drawer ol.steps")).containsText("RFC 9111");
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void theNextRequestForAUrlShowsItsWay() {
    try (Browser browser = signedIn(ColorScheme.DARK, 320)) {
      Page page = browser.page();
      browser.show("traffic");
      page.locator("button[aria-label^='Why ']").first().click();
      button(page, "Pause").click();
      button(page, "Record the next one").click();
      assertThat(page.locator(".path table")).containsText("route found");
      assertThat(page.locator(".path table")).containsText("answered");
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aChartTellsWhatChanged() {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("overview");
      page.locator(".legend button").first().click();
      assertThat(page.locator(".around")).containsText("version 1 by file");
      page.locator(".chart.asks svg").click();
      assertThat(page.locator(".around")).containsText("What changed around");
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void anOldProofIsAskedForAgainAndTheChangeGoesOn() throws IOException {
    String token = Files.readString(directory.resolve("demo/admin-token")).strip();
    try (Browser browser = signedIn(ColorScheme.LIGHT, 320)) {
      Page page = browser.page();
      browser.show("cache");
      page.locator("input[name=what]").fill(site);
      page.route(
          "**/v1/cache/purges",
          route ->
              route.fulfill(
                  new Route.FulfillOptions()
                      .setStatus(403)
                      .setContentType("application/problem+json")
                      .setBody("{\"type\":\"/problems/proof-needed\"}")),
          new Page.RouteOptions().setTimes(1));
      button(page, "Rehearse").click();
      assertThat(page.locator("dialog")).containsText("Is it still you?");
      assertThat(browser.violations()).isEmpty();
      page.locator("dialog input").fill("kam_wrong");
      button(page, "Go on").click();
      assertThat(page.locator("dialog .note")).containsText("wrong");
      page.locator("dialog input").fill(token);
      button(page, "Go on").click();
      assertThat(page.locator("main .note")).containsText("This is about");
      assertThat(page.locator("dialog")).hasCount(0);
      assertThat(page.locator("input[name=what]")).hasValue(site);
    }
  }

  @Test
  void aPurgeIsRehearsedFirst() {
    try (Browser browser = signedIn(ColorScheme.DARK, 1280)) {
      Page page = browser.page();
      page.waitForCondition(() -> page.request().get(site + "logo.svg").ok());
      browser.show("cache");
      page.locator("input[name=what]").fill(site + "logo.svg");
      button(page, "Rehearse").click();
      assertThat(page.locator("main")).containsText("1 stored response");
      button(page, "Remove them").click();
      assertThat(page.locator("main")).containsText(Pattern.compile("[01] responses? purged"));
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void whatAPurgeRemovedIsFetchedAgain() {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("cache");
      page.locator("select[name=kind]").selectOption("prefix");
      page.locator("input[name=what]").fill(site);
      button(page, "Rehearse").click();
      button(page, "Remove them").click();
      page.getByRole(
              AriaRole.BUTTON,
              new Page.GetByRoleOptions().setName(Pattern.compile("^Fetch again what purge")))
          .first()
          .click();
      assertThat(page.locator("main")).containsText(Pattern.compile("purge \\d+: done\\."));
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
      browser.show("traffic");
      assertThat(page.locator("main")).containsText("Most asked for");
      assertThat(page.locator("main")).containsText(site);
    }
  }
}
