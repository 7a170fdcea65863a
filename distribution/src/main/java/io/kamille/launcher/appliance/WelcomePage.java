package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.Unpooled;

/**
 * Answers every request with a page that says how to go on, until a route names an upstream. Any
 * thread.
 */
final class WelcomePage implements ExchangeHandler {

  private static final byte[] PAGE =
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
      """
          .getBytes(US_ASCII);

  @Override
  public void handle(Exchange exchange) {
    Reply reply = exchange.reply();
    reply.head(
        ResponseHead.of(
            200, "Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store"),
        PAGE.length);
    if (exchange.request().method() != Method.HEAD) {
      reply.write(Unpooled.wrappedBuffer(PAGE));
    }
    reply.end(null);
  }
}
