package io.kamille.core.client;

import io.kamille.core.answer.ResponseSettings;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.tls.Challenges;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How one listener brings clients to HTTPS: by a redirect, by HSTS (RFC 6797), and by what it
 * answers to certificate authorities. Immutable; any thread.
 *
 * @param redirectPort of the listener for HTTPS that requests are sent to; 0 for no redirect
 * @param hsts what clients remember, as a field line; empty for none
 * @param challenges answered before all else; null for none
 */
@SuppressWarnings("ArrayRecordComponent") // octets that are written as they are, never compared
public record HttpsPolicy(int redirectPort, byte[] hsts, @Nullable Challenges challenges) {

  private static final int HTTPS_PORT = 443;

  /** Authorities look for this in clear text (RFC 8555 §8.3). */
  public static final String CHALLENGE_PATH = "/.well-known/acme-challenge/";

  private static final byte[] CHALLENGES = CHALLENGE_PATH.getBytes(StandardCharsets.US_ASCII);

  /** It does not. */
  public static final HttpsPolicy NONE = of(0, Duration.ZERO, null);

  /**
   * A policy.
   *
   * @param redirectPort 0 for no redirect
   * @param memory how long clients keep to HTTPS; zero if they are not told to
   * @param challenges answered before all else; null for none
   */
  public static HttpsPolicy of(int redirectPort, Duration memory, @Nullable Challenges challenges) {
    String line =
        memory.isZero()
            ? ""
            : FieldName.STRICT_TRANSPORT_SECURITY.text()
                + ": max-age="
                + memory.toSeconds()
                + "\r\n";
    return new HttpsPolicy(redirectPort, line.getBytes(StandardCharsets.US_ASCII), challenges);
  }

  /** Whether clients are told to keep to HTTPS. */
  public boolean hasHsts() {
    return hsts.length > 0;
  }

  /** The first station of a listener: the given one, or what this puts before it. */
  public ExchangeHandler before(ExchangeHandler first) {
    ExchangeHandler next = redirectPort == 0 ? first : exchange -> redirect(exchange, first);
    Challenges asked = challenges;
    return asked == null
        ? next
        : exchange -> {
          String answer = asked.areAskedByHttp() ? answer(exchange.request(), asked) : null;
          if (answer == null) {
            next.handle(exchange);
          } else {
            new ResponseSettings(StatusCode.OK, answer, null, "text/plain")
                .answering(answer.getBytes(StandardCharsets.US_ASCII))
                .handle(exchange);
          }
        };
  }

  /** For that very token, and from our table: what echoes tokens proves names to anybody. */
  private static @Nullable String answer(RequestHead request, Challenges asked) {
    boolean isRead = request.method() == Method.GET || request.method() == Method.HEAD;
    int from = request.pathStart();
    int to = from + CHALLENGES.length;
    return isRead
            && request.pathEnd() > to
            && Arrays.equals(request.octets(), from, to, CHALLENGES, 0, CHALLENGES.length)
        ? asked.answer(request.pathAndQuery().substring(CHALLENGES.length))
        : null;
  }

  /** By the path that routes compare: no dots lead to another one in clear text. */
  private static boolean isChallenge(RequestHead request) {
    byte[] path = NormalPath.of(request.octets(), request.pathStart(), request.pathEnd());
    int length = CHALLENGES.length;
    return path.length >= length && Arrays.equals(path, 0, length, CHALLENGES, 0, length);
  }

  private void redirect(Exchange exchange, ExchangeHandler first) {
    RequestHead request = exchange.request();
    if (request.isSecure() || isChallenge(request)) {
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
