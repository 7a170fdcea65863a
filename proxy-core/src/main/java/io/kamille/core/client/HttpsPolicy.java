package io.kamille.core.client;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/**
 * How one listener keeps clients on HTTPS: by a redirect, or by HSTS (RFC 6797). Immutable; any
 * thread.
 *
 * @param redirectPort of the listener for HTTPS that requests are sent to; 0 for no redirect
 * @param hsts what clients remember, as a field line; empty for none
 */
@SuppressWarnings("ArrayRecordComponent") // octets that are written as they are, never compared
public record HttpsPolicy(int redirectPort, byte[] hsts) {

  private static final int HTTPS_PORT = 443;

  /** Authorities look for this in clear text (RFC 8555 §8.3). */
  private static final byte[] CHALLENGES =
      "/.well-known/acme-challenge/".getBytes(StandardCharsets.US_ASCII);

  /** It does not. */
  public static final HttpsPolicy NONE = of(0, Duration.ZERO);

  /**
   * A policy.
   *
   * @param redirectPort 0 for no redirect
   * @param memory how long clients keep to HTTPS; zero if they are not told to
   */
  public static HttpsPolicy of(int redirectPort, Duration memory) {
    String line =
        memory.isZero()
            ? ""
            : FieldName.STRICT_TRANSPORT_SECURITY.text()
                + ": max-age="
                + memory.toSeconds()
                + "\r\n";
    return new HttpsPolicy(redirectPort, line.getBytes(StandardCharsets.US_ASCII));
  }

  /** Whether clients are told to keep to HTTPS. */
  public boolean hasHsts() {
    return hsts.length > 0;
  }

  /** The first station of a listener: the given one, or the redirect before it. */
  public ExchangeHandler before(ExchangeHandler first) {
    return redirectPort == 0 ? first : exchange -> redirect(exchange, first);
  }

  /** By the path that routes compare: no dots lead to another one in clear text. */
  private static boolean isChallenge(RequestHead request) {
    byte[] path = NormalPath.of(request.octets(), request.pathStart(), request.pathEnd());
    int length = CHALLENGES.length;
    return path.length >= length && Arrays.equals(path, 0, length, CHALLENGES, 0, length);
  }

  private void redirect(Exchange exchange, ExchangeHandler first) {
    RequestHead request = exchange.request();
    if (isChallenge(request)) {
      first.handle(exchange);
      return;
    }
    String host = Authority.hostOf(request.authority());
    String path = request.pathAndQuery();
    if (host.isEmpty() || !path.startsWith("/")) {
      exchange
          .reply()
          .fail(Failure.request(StatusCode.BAD_REQUEST, "there is no address to redirect to"));
      return;
    }
    String target =
        "https://"
            + host.toLowerCase(Locale.ROOT)
            + (redirectPort == HTTPS_PORT ? "" : ":" + redirectPort)
            + path;
    exchange.reply().head(ResponseHead.of(StatusCode.PERMANENT_REDIRECT, "Location", target), 0);
    exchange.reply().end(null);
  }
}
