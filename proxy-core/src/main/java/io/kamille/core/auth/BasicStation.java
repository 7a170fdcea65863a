package io.kamille.core.auth;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
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

  @SuppressWarnings("ArrayRecordComponent") // compared with nothing
  private record Pair(String name, byte[] password) {}

  private final Failure none;
  private final Failure wrong;

  /** A station before {@code next}. Reads the file: blocks. */
  public BasicStation(
      BasicAuthSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    this(
        Objects.requireNonNull(settings.usersFile()),
        refused("a name and a password are needed", settings),
        refused("the name or the password is wrong", settings),
        threads,
        clock,
        next);
  }

  private BasicStation(
      Path file,
      Failure none,
      Failure wrong,
      AuthThreads threads,
      WallClock clock,
      ExchangeHandler next) {
    super(
        "Basic ",
        "basic",
        List.of(),
        none,
        threads.source("users " + file, () -> new AuthFile<>(file, Users::parse)),
        threads,
        clock,
        next);
    this.none = none;
    this.wrong = wrong;
  }

  private static Failure refused(String reason, BasicAuthSettings settings) {
    return unauthorized(reason, "Basic realm=\"" + settings.realm() + "\", charset=\"UTF-8\"");
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
  @Nullable Failure malformed(String given) {
    return pair(given) == null ? none : null;
  }

  @Override
  Found check(String given, Users users) {
    Pair pair = pair(given);
    return pair != null && users.admits(pair.name(), pair.password())
        ? new Found(null, NOBODY, KEPT_SECONDS)
        : Found.refused(wrong);
  }

  @Override
  @Nullable Failure foreseen(String given, Users users) {
    Pair pair = pair(given);
    return pair != null && users.byName().containsKey(pair.name()) ? null : wrong;
  }

  /** The name before the first colon and the password behind it; null if there is no such pair. */
  private static @Nullable Pair pair(String given) {
    byte[] octets;
    try {
      octets = Base64.getDecoder().decode(given);
    } catch (IllegalArgumentException noBase64) {
      return null;
    }
    int colon = -1;
    for (int i = octets.length - 1; i >= 0; i--) {
      if ((octets[i] >= 0 && octets[i] < ' ') || octets[i] == 0x7f) {
        return null;
      }
      colon = octets[i] == ':' ? i : colon;
    }
    return colon < 0
        ? null
        : new Pair(
            new String(octets, 0, colon, StandardCharsets.UTF_8),
            Arrays.copyOfRange(octets, colon + 1, octets.length));
  }
}
