package io.kamille.core.auth;

import io.kamille.core.auth.AuthSource.Known;
import io.kamille.core.auth.Checks.Asker;
import io.kamille.core.auth.Users.User;
import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.loop.WallClock;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jose4j.jwk.JsonWebKey;
import org.jspecify.annotations.Nullable;

/**
 * Lets those pass who give the right credentials in {@code Authorization} (RFC 9110 §11.6.2). Any
 * loop.
 *
 * @param <T> what they are checked against
 */
final class CredentialStation<T> extends AuthStation {

  /*
   * Credentials are checked once, on a thread of AuthThreads. Then their digest holds for as long
   * as the check says. Changed keys end that. A changed file of users ends it for those alone whose
   * own line has changed.
   */
  private static final System.Logger LOG = System.getLogger("kamille.auth");

  private static final Failure NOT_YET =
      new Failure(ErrorType.PROXY_INTERNAL_RESPONSE, 503, "no users or keys could be read yet", 1);
  private static final Failure BUSY =
      new Failure(ErrorType.PROXY_INTERNAL_RESPONSE, 503, "too many requests wait for a check", 1);
  private static final Failure BUG =
      Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "the check failed by a fault of ours");

  /** Finds out whether credentials are right. Off the loops. */
  @FunctionalInterface
  interface Check<T> {
    Found check(String given, AuthSource<T> source, long nowEpochSeconds);
  }

  /**
   * Whose credentials they are.
   *
   * @param name the one that they give
   * @param holds whether what they were found right by still holds
   */
  private record Subject<T>(Function<String, String> name, BiPredicate<Known<T>, Object> holds) {}

  private final String scheme;
  private final byte[] settings;
  private final Failure none;
  private final AuthSource<T> source;
  private final Check<T> check;
  private final Subject<T> subject;
  private final Checks checks;
  private final Verdicts verdicts;
  private final WallClock clock;

  private CredentialStation(
      String scheme,
      Record settings,
      List<String> identity,
      Failure none,
      AuthSource<T> source,
      Check<T> check,
      Subject<T> subject,
      Checks checks,
      Verdicts verdicts,
      WallClock clock,
      ExchangeHandler next) {
    super(identity, next);
    this.scheme = scheme;
    this.settings = Verdicts.octetsOf(settings.toString());
    this.none = none;
    this.source = source;
    this.check = check;
    this.subject = subject;
    this.checks = checks;
    this.verdicts = verdicts;
    this.clock = clock;
  }

  /** For a name and its password (RFC 7617). */
  static CredentialStation<Users> ofPasswords(
      BasicAuthSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    Path file = Objects.requireNonNull(settings.usersFile(), "users-file");
    String challenge = "Basic realm=\"" + settings.realm() + "\", charset=\"UTF-8\"";
    long day = TimeUnit.DAYS.toSeconds(1);
    Found wrong = Found.refused(Found.unauthorized("the name or the password is wrong", challenge));
    return new CredentialStation<>(
        "Basic ",
        settings,
        List.of(),
        Found.unauthorized("a name and a password are needed", challenge),
        threads.source("users " + file, () -> new AuthSource<>(file, Users::parse)),
        (given, users, _) -> {
          User user = users.value().find(given);
          return user == null ? wrong : new Found(null, NOBODY, day, user);
        },
        new Subject<>(
            Users::name, (users, basis) -> basis instanceof User user && users.value().has(user)),
        threads.passwords(),
        threads.verdicts(),
        clock,
        next);
  }

  /** For a signed token (RFC 6750, RFC 7519). */
  static CredentialStation<List<JsonWebKey>> ofTokens(
      JwtSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    String keys = Objects.requireNonNull(settings.keys(), "keys");
    JwtCheck check = new JwtCheck(settings);
    return new CredentialStation<>(
        "Bearer ",
        settings,
        List.copyOf(settings.fields().keySet()),
        Found.unauthorized("a token is needed", "Bearer"),
        threads.source(
            "keys " + keys,
            () ->
                JwtSettings.isUrl(keys)
                    ? new JwksUrl(keys, JwtCheck::keys)
                    : new AuthSource<>(Path.of(keys), JwtCheck::keys)),
        (given, set, now) -> {
          long number = Objects.requireNonNull(set.known()).number();
          Found found = check.check(given, set, now);
          return new Found(found.refusal(), found.identity(), found.seconds(), number);
        },
        new Subject<>(_ -> "", (set, basis) -> basis.equals(set.number())),
        threads.tokens(),
        threads.verdicts(),
        clock,
        next);
  }

  @Override
  public void handle(Exchange exchange) {
    Fields fields = exchange.request().fields();
    int line = credentials(fields);
    Known<T> known = source.known();
    if (line < 0 || known == null) {
      refuse(exchange, line < 0 ? none : NOT_YET);
      return;
    }
    int start = fields.valueStart(line);
    byte[] digest = verdicts.digest(settings, 0, fields.octets(), start, fields.valueEnd(line));
    Verdict verdict = kept(digest, known);
    if (verdict != null) {
      pass(exchange, verdict.identity(), List.of());
    } else {
      String given = fields.valueAt(line).substring(scheme.length()).strip();
      InetAddress address = exchange.client().getAddress();
      Asker asker = Asker.of(address, subject.name().apply(given));
      hold(exchange, checks.ask(digest, asker, () -> found(given, digest, asker)));
    }
  }

  private @Nullable Verdict kept(byte[] digest, @Nullable Known<T> known) {
    Verdict verdict = verdicts.find(digest, clock.nanos());
    return verdict != null
            && known != null
            && verdict.basis() != null
            && subject.holds().test(known, verdict.basis())
        ? verdict
        : null;
  }

  /** The only line of {@code Authorization}, if it is of the scheme; else -1. */
  private int credentials(Fields fields) {
    int line = fields.indexOf(FieldName.AUTHORIZATION);
    if (line < 0 || fields.count(FieldName.AUTHORIZATION) != 1) {
      return -1;
    }
    int start = fields.valueStart(line);
    int end = start + scheme.length();
    return end <= fields.valueEnd(line)
            && Octets.equalsIgnoreCase(fields.octets(), start, end, scheme)
        ? line
        : -1;
  }

  /** Has a request wait for a check, and does what that finds. */
  private void hold(Exchange exchange, Checks.Check waits) {
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    Exchange held = exchange.behind(client);
    held.notes().mark(TraceStep.AUTH, "waits for a check");
    client.open(new Awaiting(waits));
    waits
        .found()
        .whenComplete(
            (found, bug) ->
                held.loop()
                    .execute(
                        () -> {
                          if (!client.isCancelled()) {
                            goOn(held, found, bug);
                          }
                        }));
  }

  /** Drops a check that nobody awaits any more, if it has not begun. Confined to its loop. */
  private record Awaiting(Checks.Check waits) implements ContentSource {

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      waits.leave();
    }
  }

  /** Off the loops. */
  private Found found(String given, byte[] digest, Asker asker) {
    Verdict verdict = kept(digest, source.known());
    if (verdict != null) {
      // The one before it had the same.
      return new Found(null, verdict.identity(), 0);
    }
    Found found = check.check(given, source, clock.epochSeconds());
    if (found.refusal() == null) {
      long now = clock.nanos();
      long until = now + TimeUnit.SECONDS.toNanos(found.seconds());
      verdicts.keep(new Verdict(digest, until, found.identity(), found.basis()), now);
      checks.passed(asker);
    }
    return found;
  }

  private void goOn(Exchange held, @Nullable Found found, @Nullable Throwable bug) {
    if (bug instanceof RejectedExecutionException) {
      refuse(held, BUSY);
    } else if (found == null) {
      LOG.log(Level.ERROR, "a request was not checked by a fault of ours", bug);
      refuse(held, BUG);
    } else if (found.refusal() == null) {
      pass(held, found.identity(), List.of());
    } else {
      refuse(held, found.refusal());
    }
  }
}
