package io.kamille.core.auth;

import io.kamille.core.auth.AuthSource.Known;
import io.kamille.core.auth.Scheme.Found;
import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
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
final class CredentialStation<T> extends AuthStation {

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

  private final Scheme<T> scheme;
  private final String kind;
  private final Failure none;
  private final AuthSource<T> source;
  private final AuthThreads threads;
  private final Verdicts verdicts;
  private final WallClock clock;

  /** A station before {@code next}. Reads the scheme's file: blocks. */
  CredentialStation(
      Scheme<T> scheme, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    super(scheme.identity(), next);
    this.scheme = scheme;
    this.kind = scheme.toString();
    this.none = scheme.none();
    this.source = scheme.source(threads);
    this.threads = threads;
    this.verdicts = threads.verdicts();
    this.clock = clock;
  }

  @Override
  public void handle(Exchange exchange) {
    String given = given(exchange.request());
    Known<T> known = source.known();
    if (given == null || known == null) {
      refuse(exchange, given == null ? none : NOT_YET);
      return;
    }
    byte[] digest = verdicts.digest(kind, known.number(), given);
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      pass(exchange, verdict.identity(), List.of());
    } else {
      hold(exchange, () -> found(given, digest));
    }
  }

  /** What the only {@code Authorization} has behind the scheme; null if there is no such one. */
  private @Nullable String given(RequestHead request) {
    String value = request.field(FieldName.AUTHORIZATION);
    return value != null
            && request.fields().count(FieldName.AUTHORIZATION) == 1
            && value.regionMatches(true, 0, scheme.name(), 0, scheme.name().length())
        ? value.substring(scheme.name().length()).strip()
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
  private Found found(String given, byte[] digest) {
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      // The one before it had the same.
      return new Found(null, verdict.identity(), 0);
    }
    Found found = scheme.check(given, source, clock.epochSeconds());
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
  public @Nullable Failure refusal(RequestHead request) {
    String given = given(request);
    if (given == null || source.known() == null) {
      return given == null ? none : NOT_YET;
    }
    return scheme.isSlow() ? null : scheme.check(given, source, clock.epochSeconds()).refusal();
  }
}
