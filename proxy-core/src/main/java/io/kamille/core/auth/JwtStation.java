package io.kamille.core.auth;

import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/** Lets those pass who give a signed token (RFC 6750, RFC 7519). Any loop. */
public final class JwtStation extends AuthStation {

  /*
   * A token is checked once, on a thread of AuthThreads. Then its digest holds until the token ends
   * or the keys change, and for five minutes at most.
   */
  private static final String SCHEME = "Bearer ";
  private static final long MOST_KEPT_SECONDS = 300;

  private static final Failure NONE = unauthorized("a token is needed", "Bearer");
  private static final Failure MALFORMED =
      unauthorized(JwtCheck.NO_TOKEN, "Bearer error=\"invalid_token\"");
  private static final Failure NO_KEYS =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "there are no keys for tokens yet", 1);

  private final JwtCheck check;
  private final byte[] kind;
  private final AuthSource<JwtKeys> source;
  private final AuthThreads threads;
  private final Verdicts verdicts;
  private final WallClock clock;

  /**
   * A station before {@code next}. Reads the keys if they are in a file: blocks.
   *
   * @throws UncheckedIOException if the file is not right
   */
  public JwtStation(
      JwtSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    super(List.copyOf(settings.fields().keySet()), next);
    String keys = Objects.requireNonNull(settings.keys(), "keys");
    try {
      source =
          threads.source(
              "keys " + keys,
              () ->
                  settings.isUrl()
                      ? new JwksUrl(keys)
                      : AuthFile.open(Path.of(keys), JwtKeys::parse));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
    check = new JwtCheck(settings);
    kind = ("jwt " + settings).getBytes(StandardCharsets.UTF_8);
    this.threads = threads;
    this.verdicts = threads.verdicts();
    this.clock = clock;
  }

  /**
   * Whether the file is right.
   *
   * @throws IOException with what is not
   */
  public static @Nullable Object check(String file) throws IOException {
    return AuthFile.open(Path.of(file), JwtKeys::parse);
  }

  @Override
  public void handle(Exchange exchange) {
    String token = credentials(exchange.request(), SCHEME);
    if (token == null) {
      refuse(exchange, NONE);
      return;
    }
    JwtKeys keys = source.value();
    if (keys == null) {
      refuse(exchange, NO_KEYS);
      return;
    }
    if (!JwtCheck.isToken(token)) {
      refuse(exchange, MALFORMED);
      return;
    }
    byte[] octets = token.getBytes(StandardCharsets.ISO_8859_1);
    Mac mac = verdicts.begin(kind);
    Verdicts.add(mac, keys.number());
    Verdicts.add(mac, octets, 0, octets.length);
    byte[] digest = mac.doFinal();
    Verdict known = verdicts.find(digest, clock.nanos());
    if (known != null) {
      pass(exchange, known.identity(), List.of());
      return;
    }
    check(exchange, threads, () -> found(keys, token, digest));
  }

  /** Off the loops. */
  private Found found(JwtKeys keys, String token, byte[] digest) {
    JwtCheck.Result result = check.of(token, keys, clock.epochSeconds());
    if (!result.refusal().isEmpty()) {
      if (result.isKeyUnknown()) {
        source.doubt();
      }
      return Found.refused(unauthorized(result.refusal(), "Bearer error=\"invalid_token\""));
    }
    long now = clock.nanos();
    long seconds = Math.min(result.endEpochSeconds() - clock.epochSeconds(), MOST_KEPT_SECONDS);
    long until = now + TimeUnit.SECONDS.toNanos(seconds);
    verdicts.keep(new Verdict(digest, until, result.identity()), now);
    return new Found(null, result.identity());
  }

  @Override
  public AuthExplanation explain(RequestHead request) {
    String token = credentials(request, SCHEME);
    JwtKeys keys = source.value();
    if (token == null || keys == null) {
      return new AuthExplanation(
          true,
          token == null ? "no token" : "no keys yet",
          token == null ? "it gets 401 (Unauthorized)" : "it gets 503 (Service Unavailable)");
    }
    String refusal = check.of(token, keys, clock.epochSeconds()).refusal();
    return refusal.isEmpty()
        ? new AuthExplanation(false, "a token", "the token is right")
        : new AuthExplanation(true, "a token", refusal + ": 401 (Unauthorized)");
  }
}
