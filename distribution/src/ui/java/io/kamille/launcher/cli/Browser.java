package io.kamille.launcher.cli;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Chromium with one page, and all that its console and axe complain about. */
final class Browser implements AutoCloseable {

  private static final String AXE = script("/axe.min.js");
  private static final String RUN =
      """
      async () => (await axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }))
        .violations.map(each => each.id + ": " + each.nodes[0].html)
      """;

  private final Playwright playwright;
  private final com.microsoft.playwright.Browser browser;
  private final List<String> complaints = new ArrayList<>();
  private final Page page;

  Browser(ColorScheme scheme, int width) {
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new LaunchOptions()
                    .setExecutablePath(
                        Path.of(System.getProperty("kamille.chromium", "/usr/bin/chromium")))
                    .setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-sync")));
    BrowserContext context =
        browser.newContext(
            new com.microsoft.playwright.Browser.NewContextOptions()
                .setColorScheme(scheme)
                .setViewportSize(width, 900));
    page = context.newPage();
    page.onConsoleMessage(
        message -> {
          if (message.type().equals("error") || message.type().equals("warning")) {
            complaints.add(message.text());
          }
        });
    page.onPageError(complaints::add);
  }

  private static String script(String name) {
    try (InputStream in = Browser.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  Page page() {
    return page;
  }

  /** Shows a page of the UI, by the name in its address, and waits until it is complete. */
  void show(String name) {
    page.evaluate("name => { location.hash = name; }", name);
    page.locator("nav a[aria-current=page][href='#" + name + "']").waitFor();
    page.locator("main:not([aria-busy]) h1").waitFor();
  }

  /** What axe finds wrong with the page as it is. */
  @SuppressWarnings("unchecked") // the script gives a list of texts
  List<String> violations() {
    page.evaluate(AXE);
    return (List<String>) page.evaluate(RUN);
  }

  /** Errors and warnings of the console so far. */
  List<String> complaints() {
    return complaints;
  }

  /** Whether one has to scroll sideways. */
  boolean isTooWide() {
    return (Boolean) page.evaluate("() => document.documentElement.scrollWidth > innerWidth");
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}
