package io.kamille.launcher.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.client.LocalApi.Reply;
import java.io.IOException;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever clients, origins and operators write is text in the browser UI. */
class UiHostileTextIT {

  private static final String MARKUP = "<img/src=x/onerror=document.title='gone'>\"><b>&lt;";
  private static final String TARGET = "/page?" + MARKUP.replace('"', '\'');
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

  @TempDir private Path directory;
  private StubOrigin origin;
  private KamilleProcess kamille;
  private LocalApi api;

  @BeforeEach
  void start() throws IOException {
    origin = StubOrigin.open();
    origin.on(
        TARGET,
        ok(
            MARKUP,
            "Cache-Control: max-age=60",
            "Content-Type: " + MARKUP,
            "Surrogate-Key: " + MARKUP,
            "ETag: \"<b>\"",
            "Vary: User-Agent"));
    Path file = Files.writeString(directory.resolve("kamille.yaml"), configuration(origin.url()));
    kamille = KamilleProcess.start(directory, "run", "--config", file.toString());
    kamille.awaitLine("admin on ");
    api = new LocalApi(directory);
  }

  private static String configuration(String url) {
    return """
    # <img src=x onerror=alert(1)>
    listeners: ["127.0.0.1:0"]
    upstreams: {web: {origins: ["%s"]}}
    routes:
      - {upstream: web}
    cache: {memory: {capacity: 8MiB}}
    admin: {address: "127.0.0.1:0"}
    """
        .replace("%s", url);
  }

  @AfterEach
  void stop() throws Exception {
    kamille.close();
    origin.close();
  }

  private void visit() throws IOException {
    try (Socket socket = new Socket(kamille.address().getAddress(), kamille.address().getPort())) {
      String request =
          "GET "
              + TARGET
              + " HTTP/1.1\r\nHost: a'b.example\r\nUser-Agent: "
              + MARKUP
              + "\r\nReferer: "
              + MARKUP
              + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
          .startsWith("HTTP/1.1 200");
    }
  }

  /** What operators may name, too: a tag, a token, and the reason for a version. */
  private void change() throws IOException {
    String text = "\"" + MARKUP.replace("\"", "\\\"") + "\"";
    done(api.ask("POST", "/v1/traces", JSON, "{\"url\":\"/page\",\"count\":1}"));
    visit();
    visit();
    done(api.ask("POST", "/v1/cache/purges", JSON, "{\"tags\":[" + text + "]}"));
    done(api.ask("POST", "/v1/tokens", JSON, "{\"name\":" + text + ",\"scope\":\"read\"}"));
    String comment = "?comment=" + URLEncoder.encode(MARKUP, StandardCharsets.UTF_8);
    String other = configuration(origin.url()) + "# <b>\n";
    Reply running = api.ask("GET", "/v1/config", Map.of("Accept", "application/yaml"), null);
    String tag = Objects.requireNonNull(running.fields().get("etag"));
    Map<String, String> fields = Map.of("Content-Type", "application/yaml", "If-Match", tag);
    done(api.ask("PUT", "/v1/config" + comment, fields, other + "# <i>\n"));
    visit();
  }

  private static void done(Reply reply) {
    assertThat(reply.isSuccessful()).as(reply.content()).isTrue();
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  @Test
  void markupIsTextOnEveryPage() throws IOException {
    change();
    Reply code = api.ask("POST", "/v1/session/codes", Map.of(), null);
    String link = code.content().replaceAll(".*\"url\":\"([^\"]+)\".*", "$1").strip();
    try (Browser browser = new Browser(ColorScheme.DARK, 1440)) {
      Page page = browser.page();
      page.navigate(link);
      page.locator("nav").waitFor();
      for (Locator each : page.locator("nav a").all()) {
        String name = Objects.requireNonNull(each.getAttribute("href")).substring(1);
        browser.show(name);
        isText(page, name);
      }
      browser.show("traffic");
      button(page, "Pause").click();
      page.locator("button[aria-label^='Why ']").first().click();
      assertThat(page.locator(".drawer")).containsText("onerror");
      assertThat(page.locator(".drawer ol.steps")).not().isEmpty();
      isText(page, "traffic, why");
      button(page, "Record the next one").click();
      assertThat(page.locator(".drawer [title*='/v1/traces']"))
          .hasAttribute("title", Pattern.compile("\"url\":\"http://a'\\\\''b\\.example/"));
      page.locator("button[aria-label^='Path of']").first().click();
      assertThat(page.locator(".path table")).containsText("answered");
      isText(page, "traffic, path");
      browser.show("cache");
      assertThat(page.locator("main")).containsText("onerror");
      page.locator("input[name=url]").fill("http://a'b.example" + TARGET);
      page.locator("input[name=field]").fill("User-Agent: " + MARKUP);
      button(page, "Explain").click();
      assertThat(page.locator("main ol.steps")).not().isEmpty();
      isText(page, "cache, explain");
      browser.show("settings");
      assertThat(page.locator("main")).containsText(MARKUP);
      isText(page, "settings");
      browser.show("configuration");
      assertThat(page.locator("main")).containsText(MARKUP);
      button(page, "What version 2 changed").click();
      assertThat(page.locator("pre.diff")).containsText("+# <b>");
      isText(page, "configuration, diff");
      assertThat(browser.complaints()).isEmpty();
      Locator text = page.locator("textarea[name=yaml]");
      text.fill(text.inputValue().replace("web", "'<img src=x onerror=alert(1)>'"));
      button(page, "What changes?").click();
      assertThat(page.locator("main .note.bad")).containsText("<img src=x onerror=alert(1)>");
      isText(page, "configuration, problem");
      assertThat(browser.complaints()).allMatch(each -> each.contains("422"));
    }
  }

  private static void isText(Page page, String name) {
    assertThat(page.locator("main img, main b, main i:not([class]), main iframe").count())
        .as(name)
        .isZero();
    assertThat(page.title()).endsWith(" · Kamille");
  }
}
