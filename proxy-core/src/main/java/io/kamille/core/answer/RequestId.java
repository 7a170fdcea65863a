package io.kamille.core.answer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.LabelledReply;
import io.kamille.core.exchange.LabelledReply.Label;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Gives each request a name, and shows it to the origin by {@code X-Request-Id} and to the client
 * by the same field of the response, also of one from the cache and of a refusal. A client's own
 * name is replaced: it could be that of another request. Any thread.
 */
public final class RequestId implements ExchangeHandler {

  public static final String NAME = "X-Request-Id";

  private final ExchangeHandler next;

  public RequestId(ExchangeHandler next) {
    this.next = next;
  }

  @Override
  public void handle(Exchange exchange) {
    String id = random();
    exchange.notes().requestId(id);
    RequestHead named = named(exchange.request(), id);
    next.handle(
        exchange.behind(named, new LabelledReply(exchange.reply(), List.of(Label.of(NAME, id)))));
  }

  /** A name for one request. */
  public static String random() {
    HexFormat hex = HexFormat.of();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** A copy of a request that has this name. */
  public static RequestHead named(RequestHead came, String id) {
    RequestHead named = came.copy();
    named.fields().beginOwn();
    named.fields().remove(NAME);
    named.fields().add(NAME, id);
    return named;
  }

  /** Those rules for responses that are stored, which must not keep the name of one request. */
  public static HeaderRules ofStored(HeaderRules rules) {
    List<String> remove = new ArrayList<>(rules.remove());
    remove.add(NAME);
    return new HeaderRules(remove, rules.set(), rules.add());
  }
}
