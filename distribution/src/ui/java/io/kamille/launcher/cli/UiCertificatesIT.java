package io.kamille.launcher.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Certificates in the browser UI. */
class UiCertificatesIT {

  /** One with nine tenths of its lifetime, which is tried, and one that is late. */
  private static final String ISSUED =
      """
      {"certificates":[
        {"name":"a.shop.example","issuer":"CN=<b>E7</b>,O=Authority","notBefore":"2026-11-20T00:00:00Z",
         "notAfter":"2099-02-18T00:00:00Z","lifetimeLeft":0.9,"next":"2099-01-19T00:00:00Z",
         "why":"its lifetime is over by then for the most part","failures":0,"error":"",
         "steps":["ordered from authority.example"],"isRehearsed":true},
        {"name":"*.shop.example","issuer":"CN=E7,O=Authority","notBefore":"2026-08-20T00:00:00Z",
         "notAfter":"2099-02-18T00:00:00Z","lifetimeLeft":0.1,"next":"",
         "why":"an operator has to do something before","failures":3,"error":"<i>no</i> (do it)",
         "steps":[],"isRehearsed":false}]}
      """;

  @TempDir private Path directory;
  private KamilleProcess kamille;

  /** With an authority that cannot be reached. */
  @BeforeEach
  void start() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: [{address: "127.0.0.1:0", tls: {source: acme, names: [a.shop.example]}}]
            routes: [{respond: {status: 200}}]
            acme: {terms-agreed: true, directory: "https://127.0.0.1:1/directory"}
            admin: {address: "127.0.0.1:0"}
            """);
    kamille = KamilleProcess.start(directory, "run", "--config", file.toString());
    kamille.awaitLine("admin on ");
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

  private static void answer(Route route) {
    route.fulfill(
        new Route.FulfillOptions().setContentType("application/json").setBody(ISSUED));
  }

  @Test
  void aFailureIsShownWithItsAdviceAndATrialWithItsSteps() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      browser.show("certificates");
      assertThat(page.locator("main h1")).hasText("1 of 1 names has no valid certificate.");
      assertThat(page.locator("main tbody")).containsText("is the way out to the authority open?");
      assertThat(page.locator("main tbody")).containsText("1 try has failed");
      button(page, "Try a.shop.example").click();
      assertThat(page.locator("main .note.bad")).containsText("a.shop.example: failed: ");
      assertThat(page.locator("main ol.steps")).containsText("failed: ");
      assertThat(page.locator("main ol.steps")).isVisible();
      button(page, "Renew a.shop.example").click();
      assertThat(page.locator("main tbody")).containsText("2 tries have failed");
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"LIGHT, 1440", "DARK, 768", "DARK, 320"})
  void lifetimesAreBarsForEverybodyAndTextIsText(ColorScheme scheme, int width)
      throws IOException {
    try (Browser browser = signedIn(scheme, width)) {
      Page page = browser.page();
      page.route("**/v1/certificates", UiCertificatesIT::answer);
      browser.show("certificates");
      assertThat(page.locator("main h1"))
          .hasText("All 2 certificates are valid, but the last order failed for 1.");
      assertThat(page.locator("meter").first()).hasAttribute("value", "0.9");
      assertThat(page.locator("main tbody")).containsText("<b>E7</b>");
      assertThat(page.locator("main tbody")).containsText("<i>no</i> (do it)");
      page.locator("summary").first().click();
      assertThat(page.locator("main ol.steps").first()).isVisible();
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  /** A trial that somebody else began is followed to its end, too. */
  @Test
  void theEndOfATrialIsSaid() throws IOException {
    try (Browser browser = signedIn(ColorScheme.LIGHT, 1280)) {
      Page page = browser.page();
      page.route("**/v1/certificates", UiCertificatesIT::answer);
      browser.show("certificates");
      assertThat(page.locator("main h1")).containsText("All 2 certificates are valid");
      page.unroute("**/v1/certificates");
      assertThat(page.locator("main .note")).containsText("a.shop.example: ");
    }
  }
}
