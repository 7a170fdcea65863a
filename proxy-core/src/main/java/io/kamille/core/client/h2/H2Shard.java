package io.kamille.core.client.h2;

import io.kamille.core.client.HeadsUnderWay;
import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.client.ReplyHeads;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.h2.H2Settings;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.h2.RequestSink;
import io.kamille.core.http.RequestHead;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * What the HTTP/2 connections of one listener and loop share beside the {@link ServerShard}:
 * scratch and spare heads. Confined to its loop.
 */
public final class H2Shard {

  private static final int MAX_SPARE = 256;

  private final ServerShard server;
  private final ReplyHeads heads;
  private final ExchangeHandler handler;
  private final RequestSink sink = new RequestSink();
  private final HpackWriter section = new HpackWriter();
  private final ArrayDeque<RequestHead> spare = new ArrayDeque<>(MAX_SPARE);
  private byte[] lines = new byte[2048];

  /** The HTTP/2 part of {@code server}, for listeners with that policy. */
  public H2Shard(ServerShard server, HttpsPolicy policy) {
    this.server = server;
    this.heads = new ReplyHeads(server::epochSeconds, policy);
    this.handler = policy.before(server.handler());
  }

  ReplyHeads heads() {
    return heads;
  }

  /** The first station. */
  ExchangeHandler handler() {
    return handler;
  }

  ServerShard server() {
    return server;
  }

  RequestSink sink() {
    return sink;
  }

  /** Scratch for one header section at a time. */
  HpackWriter section() {
    return section;
  }

  /** Scratch for the field lines of one stored response at a time. */
  byte[] lines(int length) {
    if (lines.length < length) {
      lines = Arrays.copyOf(lines, Math.max(length, 2 * lines.length));
    }
    return lines;
  }

  /** What a client may do now. */
  H2Settings settings() {
    return H2Settings.clients(server.settings().head());
  }

  RequestHead head() {
    RequestHead used = spare.pollLast();
    return used == null ? new RequestHead() : used;
  }

  /** Takes back a head that nobody can know of any more, unless it has become large. */
  void giveBack(RequestHead head) {
    if (spare.size() < MAX_SPARE && head.fields().heapBytes() <= HeadsUnderWay.LARGE_BYTES) {
      spare.addLast(head);
    }
  }
}
