package io.kamille.launcher.appliance;

import io.kamille.core.answer.ResponseSettings;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.StatusCode;
import java.nio.charset.StandardCharsets;

/** The page that says how to go on, for all requests until a route names an upstream. */
final class WelcomePage {

  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Kamille works</title>
      <h1>Kamille works</h1>
      <p>It forwards nothing yet. Three steps on the machine it runs on:</p>
      <ol>
      <li>Open <code>/etc/kamille/kamille.yaml</code> and write the URL of your web server in
      <code>origins</code>.
      <li>In <code>routes</code>, change <code>upstream: welcome</code> to
      <code>upstream: site</code>.
      <li>Run <code>sudo systemctl reload kamille</code>.
      </ol>
      <p><code>sudo kamille login</code> prints a link to the pages for operators.</p>
      </html>
      """;

  private WelcomePage() {}

  static ExchangeHandler handler() {
    ResponseSettings settings =
        new ResponseSettings(StatusCode.OK, PAGE, null, "text/html; charset=utf-8");
    return settings.answering(PAGE.getBytes(StandardCharsets.US_ASCII));
  }
}
