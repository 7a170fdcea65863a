package io.kamille.core.auth;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.LabelledReply;
import io.kamille.core.exchange.LabelledReply.Label;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets a request pass once it is known whose it is. It stands before the cache, so no stored
 * response passes it by. What may be stored at all is for the cache to say, which takes such a
 * request for one with {@code Authorization}. Any loop.
 */
abstract class AuthStation implements ExchangeHandler {

  /*
   * Origins believe the identity fields. So a client must neither send one, in disguise either
   * (RemovedFields); nor have ours removed by naming it in Connection. Trailer fields of such
   * requests go nowhere (OriginExchange), since some origins take them for header fields.
   */
  static final Fields NOBODY = new Fields();

  private static final Failure DISGUISE =
      Failure.request(StatusCode.BAD_REQUEST, "Connection names a field of routes[].auth");

  /** A cache between the client and us must keep no cookie for others. */
  private static final Label PRIVATE = Label.more("Cache-Control", "private");

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
    RequestHead passed = passed(came, removed);
    passed.fields().beginOwn();
    for (int i = 0; i < known.size(); i++) {
      passed.fields().addFrom(known, i);
    }
    Reply reply = exchange.reply();
    if (!cookies.isEmpty()) {
      exchange.notes().cookies(cookies);
      List<Label> labels = new ArrayList<>(List.of(PRIVATE));
      cookies.forEach(cookie -> labels.add(Label.more("Set-Cookie", cookie)));
      reply = new LabelledReply(reply, labels);
    }
    next.handle(exchange.behind(passed, reply));
  }

  /** A copy of a request that passes, without what it says itself of its client. */
  static RequestHead passed(RequestHead came, RemovedFields identity) {
    RequestHead passed = came.copy();
    passed.authenticated();
    identity.removeFrom(passed.fields());
    return passed;
  }

  static void refuse(Exchange exchange, Failure why) {
    exchange.notes().mark(TraceStep.AUTH, why.reason());
    exchange.notes().refused();
    exchange.reply().fail(why);
  }
}
