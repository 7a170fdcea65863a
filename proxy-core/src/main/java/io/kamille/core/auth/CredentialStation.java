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
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets those pass who give the right credentials in {@code Authorization} (RFC 9110 §11.6.2). Any
 * loop.
 *
 * @param <T> what they are checked against
 */
abstract class CredentialStation<T> extends AuthStation {

  /*
   * Credentials are checked once, on a thread of AuthThreads. Then their digest holds for as long
   * as the check says. A changed source ends that: its number is part of the digest.
   */
  private static final System.Logger LOG = System.getLogger("kamille.auth");

  private static final Failure NOT_YET =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "there are no users or keys yet", 1);
  private static final Failure BUSY =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "too many requests wait for a check", 1);
  private static final Failure BUG =
      Failure.of(Kind.PROXY_INTERNAL_ERROR, "the check failed by a fault of ours");

  /**
   * What a check has found.
   *
   * @param refusal why the request goes no further; null if it passes
   * @param identity fields for the origin; never changed
   * @param seconds for which that it passes holds
   */
  record Found(@Nullable Failure refusal, Fields identity, long seconds) {

    static Found refused(Failure why) {
      return new Found(why, NOBODY, 0);
    }
  }

  private final String scheme;
  private final String settings;
  private final Failure none;
  final AuthSource<T> source;
  private final AuthThreads threads;
  private final Verdicts verdicts;
  final WallClock clock;

  /**
   * A station before {@code next}.
   *
   * @param scheme with the blank behind it
   * @param settings all that decides beside the source
   * @param none for a request without such credentials
   */
  CredentialStation(
      String scheme,
      String settings,
      List<String> identity,
      Failure none,
      AuthSource<T> source,
      AuthThreads threads,
      WallClock clock,
      ExchangeHandler next) {
    super(identity, next);
    this.scheme = scheme;
    this.settings = settings;
    this.none = none;
    this.source = source;
    this.threads = threads;
    this.verdicts = threads.verdicts();
    this.clock = clock;
  }

  /** A 401 (RFC 9110 §15.5.2). */
  static Failure unauthorized(String reason, String challenge) {
    return new Failure(
        Kind.HTTP_REQUEST_DENIED,
        StatusCode.UNAUTHORIZED,
        reason,
        0,
        new Failure.Field("WWW-Authenticate", challenge));
  }

  /** Whether these are right. May take a second: off the loops. */
  abstract Found check(String given, T known);

  /** Why these are wrong, as far as is known without the check of a password. */
  abstract @Nullable Failure foreseen(String given, T known);

  @Override
  public final void handle(Exchange exchange) {
    String given = given(exchange.request());
    Known<T> known = source.known();
    if (given == null || known == null) {
      refuse(exchange, given == null ? none : NOT_YET);
      return;
    }
    byte[] digest = verdicts.digest(settings, known.number(), given);
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      pass(exchange, verdict.identity(), List.of());
    } else {
      hold(exchange, () -> found(given, known.value(), digest));
    }
  }

  /** What the only {@code Authorization} has behind the scheme; null if there is no such one. */
  private @Nullable String given(RequestHead request) {
    String value = request.field(FieldName.AUTHORIZATION);
    return value != null
            && request.fields().count(FieldName.AUTHORIZATION) == 1
            && value.regionMatches(true, 0, scheme, 0, scheme.length())
        ? value.substring(scheme.length()).strip()
        : null;
  }

  /** Has a request wait for a check, and does what that finds. */
  private void hold(Exchange exchange, Supplier<Found> check) {
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    Exchange held = exchange.behind(client);
    client.open(ContentSource.NONE);
    held.notes().mark(TraceStep.AUTH, "waits for a check");
    try {
      CompletableFuture.supplyAsync(check, threads.checks())
          .whenComplete(
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

  /** Off the loops. */
  private Found found(String given, T known, byte[] digest) {
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      // The one before it had the same.
      return new Found(null, verdict.identity(), 0);
    }
    Found found = check(given, known);
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

  @Override
  public final @Nullable Failure refusal(RequestHead request) {
    String given = given(request);
    Known<T> known = source.known();
    if (given == null || known == null) {
      return given == null ? none : NOT_YET;
    }
    return foreseen(given, known.value());
  }
}
