package io.kamille.launcher.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Draining an origin in the browser UI. */
class UiOriginsIT {

  @TempDir private Path directory;

  private static Locator button(Page page, String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  @Test
  void anOriginIsDrainedUnlessItIsTheLast() throws Exception {
    try (StubOrigin first = StubOrigin.open();
        StubOrigin second = StubOrigin.open()) {
      Path file =
          Files.writeString(
              directory.resolve("kamille.yaml"),
              """
              listeners: ["127.0.0.1:0"]
              upstreams: {web: {origins: ["FIRST", "SECOND"]}}
              routes: [{upstream: web}]
              admin: {address: "127.0.0.1:0"}
              """
                  .replace("FIRST", first.url())
                  .replace("SECOND", second.url()));
      try (KamilleProcess kamille =
          KamilleProcess.start(directory, "run", "--config", file.toString())) {
        kamille.awaitLine("admin on ");
        drainOneAndThenTheOther(name(first), name(second));
      }
    }
  }

  private static String name(StubOrigin origin) {
    return URI.create(origin.url()).getAuthority();
  }

  private void drainOneAndThenTheOther(String first, String second) throws IOException {
    String code =
        new LocalApi(directory).ask("POST", "/v1/session/codes", Map.of(), null).content();
    try (Browser browser = new Browser(ColorScheme.LIGHT, 768)) {
      Page page = browser.page();
      page.navigate(code.replaceAll(".*\"url\":\"([^\"]+)\".*", "$1").strip());
      page.locator("nav").waitFor();
      browser.show("origins");
      button(page, "Drain " + second).click();
      assertThat(page.locator("main h1")).containsText(second + " is drained.");
      assertThat(page.locator("main")).containsText("drained until");
      assertThat(browser.violations()).isEmpty();
      assertThat(browser.isTooWide()).isFalse();
      assertThat(browser.complaints()).isEmpty();
      button(page, "Drain " + first).click();
      assertThat(page.locator("main .note.bad")).containsText("No other origin");
      button(page, "End the drain of " + second).click();
      assertThat(button(page, "Drain " + second)).isVisible();
      browser.show("audit");
      assertThat(page.locator("main")).containsText("\"state\":\"drain\"");
      assertThat(browser.complaints()).allMatch(each -> each.contains("409"));
    }
  }
}
