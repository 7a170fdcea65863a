package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The browser UI without a mouse: {@code ./dev test --ui}. */
class UiKeyboardIT {

  /** The controls of the page as a reader meets them. */
  private static final String CONTROLS =
      """
      () => {
        const name = (one) => `${one.tagName} ${one.name || one.getAttribute("aria-label") || one.textContent}`;
        document.activeElement.blur();
        return [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
          .filter((one) => !one.disabled && one.checkVisibility()).map(name);
      }
      """;

  /** What has the focus now, and what is wrong with how it shows that. */
  private static final String STEP =
      """
      () => {
        const one = document.activeElement;
        if (one === document.body) return "nothing";
        if (!one.matches("a, button, input, select, textarea, summary")) return "scrolls";
        const name = `${one.tagName} ${one.name || one.getAttribute("aria-label") || one.textContent}`;
        const box = one.getBoundingClientRect();
        const seen = [0.1, 0.5, 0.9].some((part) => {
          const top = document.elementFromPoint(box.left + box.width * part, box.top + box.height / 2);
          return top && (one.contains(top) || top.contains(one));
        });
        const isMarked = getComputedStyle(one).outlineStyle !== "none";
        return name + (seen ? "" : " is hidden") + (isMarked ? "" : " has no outline");
      }
      """;

  @TempDir private Path directory;
  private KamilleProcess kamille;

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
    kamille.awaitLine("Ctrl-C stops it");
  }

  @AfterEach
  void stop() throws Exception {
    kamille.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {320, 1440})
  @SuppressWarnings("unchecked") // the script gives a list of texts
  void tabReachesEveryControlInReadingOrder(int width) {
    try (Browser browser = new Browser(ColorScheme.LIGHT, width)) {
      Page page = browser.page();
      page.navigate(kamille.awaitLine("its pages, for a minute"));
      page.locator("nav").waitFor();
      List<String> pages =
          page.locator("nav a").all().stream()
              .map(link -> link.getAttribute("href").substring(1))
              .toList();
      for (String name : pages) {
        browser.show(name);
        stopTheClock(page);
        List<String> controls = (List<String>) page.evaluate(CONTROLS);
        assertThat(controls).as(name).hasSizeGreaterThan(pages.size());
        for (String control : controls) {
          String reached;
          do {
            page.keyboard().press("Tab");
            reached = (String) page.evaluate(STEP);
          } while (reached.equals("scrolls"));
          assertThat(reached).as(name).isEqualTo(control);
        }
        page.reload();
        page.locator("main h1").waitFor();
      }
      assertThat(browser.complaints()).isEmpty();
    }
  }

  /** Pages look again every few seconds, which would put other controls in place of these. */
  private static void stopTheClock(Page page) {
    page.evaluate(
        "() => { for (let id = setTimeout(() => {}); id > 0; id--) clearTimeout(id);"
            + " window.setTimeout = () => 0; }");
  }

  @Test
  void theFocusStaysWhileThePageLooksAgain() {
    try (Browser browser = new Browser(ColorScheme.LIGHT, 1440)) {
      Page page = browser.page();
      page.navigate(kamille.awaitLine("its pages, for a minute"));
      page.locator("nav").waitFor();
      browser.show("origins");
      Locator copy = page.locator("main button.curl").first();
      copy.focus();
      String name = copy.getAttribute("aria-label");
      page.evaluate("() => { document.activeElement.dataset.old = 'yes'; }");
      page.locator("main button.curl:not([data-old])").first().waitFor();
      assertThat(page.evaluate("() => document.activeElement.getAttribute('aria-label')"))
          .isEqualTo(name);
    }
  }
}
