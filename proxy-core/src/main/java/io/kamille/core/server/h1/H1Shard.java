package io.kamille.core.server.h1;

import io.kamille.core.admission.Overload;
import io.kamille.core.admission.Shedder;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.server.connection.HeadsUnderWay;
import io.kamille.core.server.connection.ServerShard;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * What the HTTP/1.1 connections of one loop share beside the {@link ServerShard}: scratch and spare
 * exchanges. Confined to its loop.
 */
public final class H1Shard {

  private static final int MAX_SPARE = 64;

  final ServerShard server;
  final HeadWriter writer = new HeadWriter();
  private final byte[][] shedLines = new byte[Shedder.MOST_RETRY_AFTER_SECONDS][];
  private final ArrayDeque<ClientExchange> spare = new ArrayDeque<>(MAX_SPARE);

  /** The HTTP/1.1 part of {@code server}. */
  public H1Shard(ServerShard server) {
    this.server = server;
    for (int i = 0; i < shedLines.length; i++) {
      shedLines[i] = shedLines(server.name(), i + 1);
    }
  }

  /** The field lines of an answer to a request that is shed. Borrowed. */
  byte[] shedLines(int retryAfterSeconds) {
    return shedLines[retryAfterSeconds - 1];
  }

  private static byte[] shedLines(String name, int retryAfterSeconds) {
    String lines =
        "Content-Length: 0\r\nCache-Control: no-store\r\nRetry-After: "
            + retryAfterSeconds
            + "\r\nProxy-Status: "
            + Overload.SHED.proxyStatus(name)
            + "\r\n";
    return lines.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** An exchange for the next request of {@code connection}. */
  ClientExchange take(ClientConnection connection) {
    ClientExchange used = spare.pollLast();
    ClientExchange exchange =
        used != null && isCurrent(used) ? used : new ClientExchange(this, server.settings().head());
    exchange.begin(connection);
    return exchange;
  }

  /**
   * Takes back an exchange that nobody can know of any more, unless its limits are old ones or a
   * large head has made it large.
   */
  void giveBack(ClientExchange exchange) {
    if (spare.size() < MAX_SPARE
        && exchange.headBytes() <= HeadsUnderWay.LARGE_BYTES
        && isCurrent(exchange)) {
      exchange.forget();
      spare.addLast(exchange);
    }
  }

  private boolean isCurrent(ClientExchange exchange) {
    return exchange.limits().equals(server.settings().head());
  }
}
