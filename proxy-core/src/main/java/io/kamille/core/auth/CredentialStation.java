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
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
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
  private final byte[] settings;
  private final Failure none;
  private final AuthSource<T> source;
  private final AuthThreads threads;
  private final Verdicts verdicts;
  private final WallClock clock;

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
    this.settings = settings.getBytes(StandardCharsets.UTF_8);
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

  /** Why these credentials need no check; null if they do. Fast: on the loops. */
  abstract @Nullable Failure malformed(String given);

  /** Whether these are right. May take a second: off the loops. */
  abstract Found check(String given, T known);

  /** What is known of that without a password's check. */
  @Nullable Failure foreseen(String given, T known) {
    return check(given, known).refusal();
  }

  /** The source is no longer right for what clients send. */
  final void doubt() {
    source.doubt();
  }

  final long epochSeconds() {
    return clock.epochSeconds();
  }

  @Override
  public final void handle(Exchange exchange) {
    Fields fields = exchange.request().fields();
    Known<T> known = source.known();
    int start = start(fields);
    if (start < 0 || known == null) {
      refuse(exchange, start < 0 ? none : NOT_YET);
      return;
    }
    int end = fields.valueEnd(fields.indexOf(FieldName.AUTHORIZATION));
    byte[] digest = verdicts.digest(settings, known.number(), fields.octets(), start, end);
    Verdict verdict = verdicts.find(digest, clock.nanos());
    if (verdict != null) {
      pass(exchange, verdict.identity(), List.of());
      return;
    }
    String given = Octets.text(fields.octets(), start, end);
    Failure malformed = malformed(given);
    if (malformed != null) {
      refuse(exchange, malformed);
    } else {
      hold(exchange, () -> found(given, known.value(), digest));
    }
  }

  /** Where the credentials of the only {@code Authorization} begin; -1 if it has no such ones. */
  private int start(Fields fields) {
    int line = fields.indexOf(FieldName.AUTHORIZATION);
    if (line < 0 || fields.count(FieldName.AUTHORIZATION) > 1) {
      return -1;
    }
    int start = fields.valueStart(line);
    int end = fields.valueEnd(line);
    int behind = start + scheme.length();
    return behind < end && Octets.equalsIgnoreCase(fields.octets(), start, behind, scheme)
        ? Octets.skipBlanks(fields.octets(), behind, end)
        : -1;
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
    Fields fields = request.fields();
    Known<T> known = source.known();
    int start = start(fields);
    if (start < 0 || known == null) {
      return start < 0 ? none : NOT_YET;
    }
    int end = fields.valueEnd(fields.indexOf(FieldName.AUTHORIZATION));
    String given = Octets.text(fields.octets(), start, end);
    Failure malformed = malformed(given);
    return malformed == null ? foreseen(given, known.value()) : malformed;
  }
}
