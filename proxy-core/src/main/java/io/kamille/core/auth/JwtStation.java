package io.kamille.core.auth;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jose4j.jwk.JsonWebKey;
import org.jspecify.annotations.Nullable;

/** Lets those pass who give a signed token (RFC 6750, RFC 7519). Any loop. */
public final class JwtStation extends CredentialStation<List<JsonWebKey>> {

  private final JwtCheck check;

  /** A station before {@code next}. Reads the keys if they are in a file: blocks. */
  public JwtStation(
      JwtSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    super(
        "Bearer ",
        "jwt " + settings,
        List.copyOf(settings.fields().keySet()),
        unauthorized("a token is needed", "Bearer"),
        source(Objects.requireNonNull(settings.keys()), threads),
        threads,
        clock,
        next);
    check = new JwtCheck(settings);
  }

  private static AuthSource<List<JsonWebKey>> source(String keys, AuthThreads threads) {
    return threads.source(
        "keys " + keys,
        () ->
            JwtSettings.isUrl(keys)
                ? new JwksUrl(keys)
                : new AuthFile<>(Path.of(keys), JwtCheck::keys));
  }

  /**
   * Reads such a file.
   *
   * @throws IOException with what is not right
   */
  public static Object check(String file) throws IOException {
    return AuthFile.read(Path.of(file), JwtCheck::keys);
  }

  @Override
  Found check(String given, List<JsonWebKey> keys) {
    Found found = check.of(given, keys, clock.epochSeconds());
    if (found.refusal() == JwtCheck.UNKNOWN_KEY) {
      source.doubt();
    }
    return found;
  }

  @Override
  @Nullable Failure foreseen(String given, List<JsonWebKey> keys) {
    return check.of(given, keys, clock.epochSeconds()).refusal();
  }
}
