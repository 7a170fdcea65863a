package io.kamille.core.auth;

import io.kamille.core.auth.AuthSource.Known;
import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.loop.WallClock;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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
   * as the check says. A changed source ends that: its number is part of the digest.
   */
  private static final System.Logger LOG = System.getLogger("kamille.auth");

  private static final Failure NOT_YET =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "no users or keys could be read yet", 1);
  private static final Failure BUSY =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "too many requests wait for a check", 1);
  private static final Failure BUG =
      Failure.of(Kind.PROXY_INTERNAL_ERROR, "the check failed by a fault of ours");

  /** Finds out whether credentials are right. Off the loops. */
  @FunctionalInterface
  interface Check<T> {
    Found check(String given, AuthSource<T> source, long nowEpochSeconds);
  }

  private final String scheme;
  private final byte[] settings;
  private final Failure none;
  private final AuthSource<T> source;
  private final Check<T> check;
  private final Executor threads;
  private final Verdicts verdicts;
  private final WallClock clock;

  private CredentialStation(
      String scheme,
      Record settings,
      List<String> identity,
      Failure none,
      AuthSource<T> source,
      Check<T> check,
      Executor threads,
      Verdicts verdicts,
      WallClock clock,
      ExchangeHandler next) {
    super(identity, next);
    this.scheme = scheme;
    this.settings = Verdicts.octetsOf(settings.toString());
    this.none = none;
    this.source = source;
    this.check = check;
    this.threads = threads;
    this.verdicts = verdicts;
    this.clock = clock;
  }

  /** For a name and its password (RFC 7617). */
  static CredentialStation<Users> ofPasswords(
      BasicAuthSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    Path file = Objects.requireNonNull(settings.usersFile(), "users-file");
    String challenge = "Basic realm=\"" + settings.realm() + "\", charset=\"UTF-8\"";
    Found right = new Found(null, NOBODY, TimeUnit.DAYS.toSeconds(1));
    Found wrong = Found.refused(Found.unauthorized("the name or the password is wrong", challenge));
    return new CredentialStation<>(
        "Basic ",
        settings,
        List.of(),
        Found.unauthorized("a name and a password are needed", challenge),
        threads.source("users " + file, () -> new AuthSource<>(file, Users::parse)),
        (given, users, _) -> users.value().admits(given) ? right : wrong,
        threads.passwords(),
        threads.verdicts(),
        clock,
        next);
  }

  /** For a signed token (RFC 6750, RFC 7519). */
  static CredentialStation<List<JsonWebKey>> ofTokens(
      JwtSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    String keys = Objects.requireNonNull(settings.keys(), "keys");
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
        new JwtCheck(settings)::check,
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
    byte[] digest =
        verdicts.digest(settings, known.number(), fields.octets(), start, fields.valueEnd(line));
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      pass(exchange, verdict.identity(), List.of());
    } else {
      String given = fields.valueAt(line).substring(scheme.length()).strip();
      hold(exchange, () -> found(given, digest));
    }
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
  private void hold(Exchange exchange, Supplier<Found> check) {
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    Exchange held = exchange.behind(client);
    held.notes().mark(TraceStep.AUTH, "waits for a check");
    try {
      var checked = CompletableFuture.supplyAsync(check, threads);
      client.open(new Awaiting(checked));
      checked.whenComplete(
          (found, bug) ->
              held.loop()
                  .execute(
                      () -> {
                        if (!client.isCancelled()) {
                          goOn(held, found, bug);
                        }
                      }));
    } catch (RejectedExecutionException full) {
      refuse(held, BUSY);
    }
  }

  /** Drops a check that nobody awaits any more, if it has not begun. Confined to its loop. */
  private record Awaiting(Future<?> checked) implements ContentSource {

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      checked.cancel(false);
    }
  }

  /** Off the loops. */
  private Found found(String given, byte[] digest) {
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      // The one before it had the same.
      return new Found(null, verdict.identity(), 0);
    }
    Found found = check.check(given, source, clock.epochSeconds());
    if (found.refusal() == null) {
      long now = clock.nanos();
      long until = now + TimeUnit.SECONDS.toNanos(found.seconds());
      verdicts.keep(new Verdict(digest, until, found.identity()), now);
    }
    return found;
  }

  private void goOn(Exchange held, @Nullable Found found, @Nullable Throwable bug) {
    if (found == null) {
      LOG.log(Level.ERROR, "a request was not checked by a fault of ours", bug);
      refuse(held, BUG);
    } else if (found.refusal() == null) {
      pass(held, found.identity(), List.of());
    } else {
      refuse(held, found.refusal());
    }
  }
}
