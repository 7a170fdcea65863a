package io.kamille.core.auth;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets a request pass once it is known whose it is. It stands before the cache, so no stored
 * response passes it by. Any loop.
 */
public abstract class AuthStation implements ExchangeHandler {

  /*
   * Origins believe the identity fields. So a client must neither send one, with a dash or an
   * underscore; nor have ours removed by naming it in Connection. Trailer fields of such requests go
   * nowhere (OriginExchange), since some origins take them for header fields.
   */
  static final Fields NOBODY = new Fields();

  private static final Failure DISGUISE =
      Failure.request(StatusCode.BAD_REQUEST, "Connection names a field of routes[].auth");

  private static final Failure BUSY =
      new Failure(Kind.PROXY_INTERNAL_RESPONSE, 503, "too many requests wait for a check", 1);
  private static final Found BUG =
      Found.refused(Failure.of(Kind.PROXY_INTERNAL_ERROR, "the check failed by a fault of ours"));

  private static final System.Logger LOG = System.getLogger("kamille.auth");

  /**
   * What a check has found.
   *
   * @param refusal why the request goes no further; null if it passes
   * @param identity fields for the origin
   */
  record Found(@Nullable Failure refusal, Fields identity) {

    static Found refused(Failure why) {
      return new Found(why, NOBODY);
    }
  }

  private final List<String> identity;
  private final RemovedFields removed;
  private final ExchangeHandler next;

  /**
   * A station before {@code next}.
   *
   * @param identity names of the fields that tell the origin who the client is
   */
  AuthStation(List<String> identity, ExchangeHandler next) {
    this.identity = identity;
    this.removed = new RemovedFields(identity);
    this.next = next;
  }

  /** What it says of that request now, but for passwords, which it does not check. Any thread. */
  public abstract AuthExplanation explain(RequestHead request);

  /**
   * Hands a request on.
   *
   * @param known the identity fields; borrowed
   * @param cookies for the client
   */
  final void pass(Exchange exchange, Fields known, List<String> cookies) {
    RequestHead came = exchange.request();
    if (identity.stream().anyMatch(name -> ConnectionFields.names(came.fields(), name))) {
      refuse(exchange, DISGUISE);
      return;
    }
    exchange.notes().mark(TraceStep.AUTH, "passes");
    RequestHead passed = came.copy();
    passed.authenticated();
    removed.removeFrom(passed.fields());
    for (int i = 0; i < known.size(); i++) {
      passed.fields().addFrom(known, i);
    }
    Reply reply = exchange.reply();
    if (!cookies.isEmpty()) {
      exchange.notes().cookies(cookies);
      reply = new CookieReply(reply, cookies);
    }
    next.handle(exchange.behind(passed, reply));
  }

  /** Has a request wait for a check that takes long, and does what that finds. */
  final void check(Exchange exchange, AuthThreads threads, Supplier<Found> check) {
    HeldExchange held = HeldExchange.of(exchange, _ -> {});
    exchange.notes().mark(TraceStep.AUTH, "waits for a check");
    if (!threads.check(() -> check(held, check))) {
      refuse(held.exchange(), BUSY);
    }
  }

  private void check(HeldExchange held, Supplier<Found> check) {
    if (held.isGone()) {
      return;
    }
    Found found;
    try {
      found = check.get();
    } catch (Throwable bug) {
      // Also an error: who waits gets an answer, and no pass.
      LOG.log(Level.ERROR, "a request was not checked by a fault of ours", bug);
      found = BUG;
    }
    Found result = found;
    held.then(
        exchange -> {
          if (result.refusal() == null) {
            pass(exchange, result.identity(), List.of());
          } else {
            refuse(exchange, result.refusal());
          }
        });
  }

  static void refuse(Exchange exchange, Failure why) {
    exchange.notes().mark(TraceStep.AUTH, why.reason());
    // It takes no route: Cache-Status and the log say that it was refused before.
    exchange.notes().route("");
    exchange.reply().fail(why);
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

  /** What the only {@code Authorization} has behind that scheme and its blank; null if not so. */
  static @Nullable String credentials(RequestHead request, String scheme) {
    String value = request.field(FieldName.AUTHORIZATION);
    return value != null
            && request.fields().count(FieldName.AUTHORIZATION) == 1
            && value.regionMatches(true, 0, scheme, 0, scheme.length())
        ? value.substring(scheme.length()).strip()
        : null;
  }
}
