package io.kamille.core.auth;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Subsection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a route finds out who its clients are. At most one of its parts is on.
 *
 * @param basic passwords of a file
 * @param forward the verdict of an auth server
 * @param jwt signed tokens
 */
public record AuthSettings(BasicAuthSettings basic, ForwardAuthSettings forward, JwtSettings jwt) {

  public static final Subsection<BasicAuthSettings> BASIC =
      BasicAuthSettings.SECTION.one("basic", "Clients give a name and a password (RFC 7617).");

  public static final Subsection<ForwardAuthSettings> FORWARD =
      ForwardAuthSettings.SECTION.one("forward", "An auth server decides who may pass.");

  public static final Subsection<JwtSettings> JWT =
      JwtSettings.SECTION.one(
          "jwt", "Clients give a signed token (RFC 7519) as `Authorization: Bearer`.");

  /** The settings under {@code auth} of a route. */
  public static final Section<AuthSettings> SECTION =
      Section.of(AuthSettings.class, BASIC, FORWARD, JWT).checkedBy(AuthSettings::isWhole);

  /** An auth that lets everybody pass is never meant. */
  private static void isWhole(SectionValues auth, Problems problems) {
    List<String> given =
        Stream.of(BASIC, FORWARD, JWT)
            .filter(kind -> !auth.all(kind).isEmpty())
            .map(Subsection::key)
            .toList();
    if (given.size() != 1 && !problems.hasRefused(auth.path())) {
      problems.conflict(
          auth,
          given.isEmpty() ? "nothing" : String.join(" and ", given),
          "one of basic, forward and jwt");
    }
    problems.readable(
        auth.one(BASIC),
        BasicAuthSettings.USERS_FILE,
        "a file of users",
        users -> readUsers(users, problems));
    problems.readable(
        auth.one(JWT), JwtSettings.KEYS, "a file with a JWK set", AuthSettings::readKeys);
  }

  /** Everybody. */
  public static final AuthSettings NONE = SECTION.defaults();

  public boolean isOn() {
    return basic.usersFile() != null || forward.upstream() != null || jwt.keys() != null;
  }

  /**
   * The station of a route where this is on, before {@code next}. Reads a file: blocks.
   *
   * @param servers what asks an auth server, by the name of its upstream
   */
  public ExchangeHandler station(
      Function<String, ExchangeHandler> servers,
      AuthThreads threads,
      WallClock clock,
      ExchangeHandler next) {
    if (forward.upstream() != null) {
      ExchangeHandler server = servers.apply(forward.upstream());
      return new AuthServerStation(forward, server, threads.verdicts(), clock, next);
    }
    return jwt.keys() == null
        ? CredentialStation.ofPasswords(basic, threads, clock, next)
        : CredentialStation.ofTokens(jwt, threads, clock, next);
  }

  /** A copy of a request that passes, but for what the origin is told of its client. */
  public RequestHead passed(RequestHead came) {
    List<String> identity = new ArrayList<>(jwt.fields().keySet());
    if (forward.upstream() != null) {
      identity.addAll(forward.responseFields());
    }
    return AuthStation.passed(came, new RemovedFields(identity));
  }

  /**
   * Reads a file of users.
   *
   * @param problems takes the lines that are wrong, and shows none
   * @throws IOException if it cannot be read, or names nobody
   */
  private static Object readUsers(Path file, Problems problems) throws IOException {
    return AuthSource.read(
        file,
        content ->
            Users.parse(
                content,
                (expected, line) -> {
                  Position at = new Position(line, 1, file.toString());
                  problems.add(Problem.Mistake.CONFLICT, at, "", "a wrong line", expected);
                }));
  }

  /**
   * Reads keys if they are in a file.
   *
   * @throws IOException with what is not right
   */
  private static @Nullable Object readKeys(String keys) throws IOException {
    return JwtSettings.isUrl(keys) ? null : AuthSource.read(Path.of(keys), JwtCheck::keys);
  }
}
