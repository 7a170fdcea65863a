package io.kamille.core.auth;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Octets;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lets those pass who give a name and its password (RFC 7617). Any loop. */
public final class BasicStation extends CredentialStation<Users> {

  private static final long KEPT_SECONDS = TimeUnit.DAYS.toSeconds(1);

  private final Failure wrong;

  /** A station before {@code next}. Reads the file: blocks. */
  public BasicStation(
      BasicAuthSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    super(
        "Basic ",
        "basic",
        List.of(),
        refused("a name and a password are needed", settings),
        source(Objects.requireNonNull(settings.usersFile()), threads),
        threads,
        clock,
        next);
    wrong = refused("the name or the password is wrong", settings);
  }

  private static Failure refused(String reason, BasicAuthSettings settings) {
    return unauthorized(reason, "Basic realm=\"" + settings.realm() + "\", charset=\"UTF-8\"");
  }

  private static AuthSource<Users> source(Path file, AuthThreads threads) {
    return threads.source("users " + file, () -> new AuthFile<>(file, Users::parse));
  }

  /**
   * Reads such a file.
   *
   * @throws IOException with what is not right
   */
  public static Object check(Path file) throws IOException {
    return AuthFile.read(file, Users::parse);
  }

  @Override
  Found check(String given, Users users) {
    byte[] pair;
    try {
      pair = Base64.getDecoder().decode(given);
    } catch (IllegalArgumentException noBase64) {
      return Found.refused(wrong);
    }
    int colon = Octets.text(pair, 0, pair.length).indexOf(':');
    boolean isRight =
        colon > 0
            && users.admits(
                new String(pair, 0, colon, StandardCharsets.UTF_8),
                Arrays.copyOfRange(pair, colon + 1, pair.length));
    return isRight ? new Found(null, NOBODY, KEPT_SECONDS) : Found.refused(wrong);
  }

  @Override
  @Nullable Failure foreseen(String given, Users users) {
    return null;
  }
}
