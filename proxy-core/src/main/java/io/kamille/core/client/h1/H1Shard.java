package io.kamille.core.client.h1;

import io.kamille.core.client.HeadsUnderWay;
import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.client.ReplyHeads;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.h1.HeadWriter;
import java.util.ArrayDeque;

/**
 * What the HTTP/1.1 connections of one listener and loop share beside the {@link ServerShard}:
 * scratch and spare exchanges. Confined to its loop.
 */
public final class H1Shard {

  private static final int MAX_SPARE = 64;

  private final ServerShard server;
  private final ExchangeHandler handler;
  private final ReplyHeads heads;
  private final HeadWriter out = new HeadWriter();
  private final ArrayDeque<H1Exchange> spare = new ArrayDeque<>(MAX_SPARE);

  /** The HTTP/1.1 part of {@code server}, for listeners with that policy. */
  public H1Shard(ServerShard server, HttpsPolicy policy) {
    this.server = server;
    this.handler = policy.before(server.handler());
    this.heads = new ReplyHeads(server::epochSeconds, policy);
  }

  ServerShard server() {
    return server;
  }

  /** An exchange for the next request of {@code connection}. */
  H1Exchange exchange(H1ClientConnection connection) {
    H1Exchange used = spare.pollLast();
    H1Exchange exchange =
        used != null && isCurrent(used)
            ? used
            : new H1Exchange(server, handler, new ReplyWriter(heads, out));
    exchange.begin(connection);
    return exchange;
  }

  /**
   * Takes back an exchange that nobody can know of any more, unless its limits are old ones or a
   * large head has made it large.
   */
  void giveBack(H1Exchange exchange) {
    if (spare.size() < MAX_SPARE
        && exchange.headBytes() <= HeadsUnderWay.LARGE_BYTES
        && isCurrent(exchange)) {
      exchange.forget();
      spare.addLast(exchange);
    }
  }

  private boolean isCurrent(H1Exchange exchange) {
    return exchange.limits().equals(server.settings().head());
  }
}
