package io.kamille.core.auth;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Octets;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A name and its password (RFC 7617). Immutable; any thread. */
record PasswordScheme(BasicAuthSettings settings) implements Scheme<Users> {

  private static final long KEPT_SECONDS = TimeUnit.DAYS.toSeconds(1);

  @Override
  public String name() {
    return "Basic ";
  }

  @Override
  public List<String> identity() {
    return List.of();
  }

  @Override
  public Failure none() {
    return refused("a name and a password are needed");
  }

  private Failure refused(String reason) {
    String challenge = "Basic realm=\"" + settings.realm() + "\", charset=\"UTF-8\"";
    return Scheme.unauthorized(reason, challenge);
  }

  @Override
  public AuthSource<Users> source(AuthThreads threads) {
    Path file = Objects.requireNonNull(settings.usersFile(), "users-file");
    return threads.source("users " + file, () -> new AuthSource<>(file, Users::parse));
  }

  @Override
  public Found check(String given, AuthSource<Users> source, long nowEpochSeconds) {
    return isRight(given, source.value())
        ? new Found(null, AuthStation.NOBODY, KEPT_SECONDS)
        : Found.refused(refused("the name or the password is wrong"));
  }

  private static boolean isRight(String given, Users users) {
    byte[] pair;
    try {
      pair = Base64.getDecoder().decode(given);
    } catch (IllegalArgumentException noBase64) {
      return false;
    }
    int colon = Octets.text(pair, 0, pair.length).indexOf(':');
    return colon > 0
        && users.admits(
            new String(pair, 0, colon, StandardCharsets.UTF_8),
            Arrays.copyOfRange(pair, colon + 1, pair.length));
  }

  @Override
  public boolean isSlow() {
    return true;
  }
}
