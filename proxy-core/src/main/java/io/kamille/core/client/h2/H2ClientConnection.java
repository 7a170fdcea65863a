package io.kamille.core.client.h2;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ClientSocket;
import io.kamille.core.client.LoopConnections;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.h2.H2Connection;
import io.kamille.core.h2.H2Owner;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.RequestSink;
import io.kamille.core.http.Authority;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One HTTP/2 connection to a client (RFC 9113). Confined to its loop. */
public final class H2ClientConnection extends ClientSocket implements H2Owner.Server {

  /*
   * Octets come in bursts: frames are looked at as they come, requests are handed on at the end of
   * the burst, and what was written meanwhile leaves in one flush. A connection is in use while it
   * has streams. What else comes is no use: control frames keep no connection.
   */
  private static final System.Logger LOG = System.getLogger("kamille.server");

  /** A client has this long to answer the first farewell of a drain. */
  private static final Duration FAREWELL = Duration.ofSeconds(5);

  private final H2Shard shard;
  private final ClientTable.Tally tally;
  private final LoopConnections connections;
  private final @Nullable ServerTls tls;
  private final @Nullable ServerContext certificates;
  private @Nullable H2Connection h2;
  private @Nullable WindowStall stall;
  private byte[] lastAuthority = {};
  private boolean headIsCounted;
  private boolean endIsDue;
  private boolean drains;

  /**
   * A connection that belongs to the loop of {@code shard}.
   *
   * @param tls of its listener; null for a connection in clear text
   * @param certificates under which the handshake was made
   */
  public H2ClientConnection(
      H2Shard shard,
      Accepted accepted,
      @Nullable ServerTls tls,
      @Nullable ServerContext certificates) {
    super(shard.server(), accepted, tls != null, "HTTP/2");
    this.shard = shard;
    this.tally = accepted.tally();
    this.connections = server.connections();
    this.tls = tls;
    this.certificates = certificates;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    super.handlerAdded(context);
    H2Connection begun =
        H2Connection.fromClient(
            this,
            shard.settings(),
            shard.sink(),
            shard.section(),
            isSecure(),
            server.time()::nowNanos,
            context);
    h2 = begun;
    countKeptBack(begun::forEachWaiting);
    begun.start();
    if (connections.isDraining()) {
      drain();
    }
  }

  H2Connection h2() {
    return Objects.requireNonNull(h2, "not in the pipeline yet");
  }

  // What comes

  @Override
  protected boolean take(ByteBuf in) {
    boolean taken = h2().receive(in);
    if (endIsDue) {
      breakOff();
    } else {
      countHead();
    }
    return taken;
  }

  /** Unfinished header sections of all connections have room in common. */
  private void countHead() {
    int bytes = h2().unfinishedHeadBytes();
    if (bytes > 0) {
      headIsCounted = true;
      connections.headGrew(this, bytes);
    } else if (headIsCounted) {
      headIsCounted = false;
      connections.headIsOver(this);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (isOpen()) {
      server.read();
      burstEnds();
    }
    super.channelReadComplete(context);
  }

  private void burstEnds() {
    h2().burstEnds();
    server.shedder().done();
    settle();
  }

  /** A client that can open no window and answer nothing is gone. */
  @Override
  protected void inputEnded() {
    breakOff();
  }

  /** Others need the room that its header section takes. */
  @Override
  protected void refuseHead(Failure why) {
    h2().fail(Http2Error.ENHANCE_YOUR_CALM, "no room for a header section");
    breakOff();
  }

  @Override
  protected void gone(Failure why) {
    h2().gone();
  }

  // For the connection's streams

  @Override
  public boolean believesScheme() {
    return isTrusted();
  }

  @Override
  public RequestHead newHead() {
    return shard.head();
  }

  @Override
  public H2Stream opened(
      H2Stream.Carrier carrier,
      int id,
      RequestHead head,
      RequestSink.Verdict verdict,
      long contentLength,
      boolean isLast) {
    identify(head);
    connections.used(this);
    return new H2Exchange(this, carrier, id, head, verdict, contentLength, isLast).stream();
  }

  @Override
  public void begin(H2Stream stream) {
    H2Exchange.of(stream).begin();
  }

  @Override
  public void over(H2Stream stream) {
    if (isProcessing()) {
      connections.used(this);
    } else {
      server.time().update();
      connections.used(this);
      if (isOpen()) {
        countHead();
      }
      settle();
    }
  }

  @Override
  public void failed(Http2Error code, String reason) {
    LOG.log(Level.DEBUG, () -> code + ", " + reason + ": " + HostPort.text(client()));
    endIsDue = true;
  }

  /** Ends the connection and everything on it, once what is queued has left. */
  private void breakOff() {
    endIsDue = false;
    h2().gone();
    if (isOpen()) {
      end();
    }
  }

  H2Shard shard() {
    return shard;
  }

  /** What the client has open. */
  ClientTable.Tally tally() {
    return tally;
  }

  /**
   * Whether the request belongs on a connection under another certificate (RFC 9113 §9.1.2). A
   * client that finds several names in one certificate asks for all of them (§9.1.1). The host that
   * a trusted proxy names is one that its client has asked the proxy for.
   */
  boolean isMisdirected(RequestHead request) {
    if (tls == null || certificates == null || isTrusted()) {
      return false;
    }
    byte[] octets = request.octets();
    int start = request.authorityStart();
    int end = request.authorityEnd();
    if (Arrays.equals(lastAuthority, 0, lastAuthority.length, octets, start, end)) {
      return false;
    }
    String host = Authority.hostOf(request.authority());
    boolean isMisdirected = tls.isMisdirected(certificates, host.toLowerCase(Locale.ROOT));
    if (!isMisdirected) {
      lastAuthority = Arrays.copyOfRange(octets, start, end);
    }
    return isMisdirected;
  }

  // What goes

  @Override
  public ByteBufAllocator allocator() {
    return channel.alloc();
  }

  @Override
  public void write(ByteBuf octets) {
    output.write(octets);
  }

  @Override
  public boolean isWritable() {
    return output.isWritable();
  }

  @Override
  public boolean isOverfull() {
    return output.isOverfull(server.settings().highWatermarkBytes());
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    writabilityChanged();
  }

  @Override
  public void writabilityChanged() {
    if (!isOpen()) {
      return;
    }
    if (output.isWritable()) {
      if (!isInputEmpty()) {
        processWaiting();
      }
      burstEnds();
    } else {
      awaitClient();
    }
  }

  @Override
  public void notSent(long bytes) {}

  /** Sends what became ready outside a burst of reads. */
  void sendReady() {
    if (!isProcessing()) {
      h2().sendReady();
    }
  }

  // How long it may stand still, and how it ends

  /** Ends if it has nothing left to do. */
  private void settle() {
    if (!isOpen()) {
      return;
    }
    if (endIsDue) {
      breakOff();
    } else if (h2().isIdle() && (isInputClosed() || (drains && h2().isDrained()))) {
      end();
    }
  }

  @Override
  protected boolean isIdle() {
    return isOpen()
        && !drains
        && h2().isIdle()
        && h2().unfinishedHeadBytes() == 0
        && isInputEmpty()
        && !isInputClosed()
        && output.pendingBytes() == 0;
  }

  @Override
  protected boolean isInUse() {
    return !isOpen() || !h2().isIdle();
  }

  @Override
  protected void drain() {
    if (drains || !isOpen()) {
      return;
    }
    drains = true;
    progress.within(FAREWELL);
    h2().drain();
  }

  @Override
  protected void ending() {
    h2().goodbye();
  }

  @Override
  protected void checkOpen() {
    Duration headTimeout = server.settings().headTimeout();
    Duration most = headTimeout.plus(server.settings().idleTimeout());
    if (h2().isUnfinishedFor(headTimeout.toNanos()) || connections.isUnusedFor(this, most)) {
      breakOff();
      return;
    }
    for (H2Stream stream : h2().streams()) {
      H2Exchange.of(stream).checkDeadlines();
    }
    if (!isOpen()) {
      return;
    }
    if (progress.isTooSlow(false)) {
      resetTooSlow();
    } else if (isStalled()) {
      connections.resetTooSlow();
      breakOff();
    } else if (progress.isLate()) {
      deadlineHasPassed();
    } else if (output.isBehind() && !progress.isAwaited()) {
      awaitClient();
    }
  }

  /** Whether the client keeps the window of the connection shut. */
  private boolean isStalled() {
    long now = server.nowNanos();
    if (!h2().isBlocked()) {
      stall = null;
      return false;
    }
    if (stall == null) {
      stall = new WindowStall(now, h2().sentBytes());
    }
    return stall.isTooLong(now, h2().sentBytes(), server.settings());
  }

  private void deadlineHasPassed() {
    if (drains && h2().isIdle()) {
      end();
    } else if (progress.hasMoved()) {
      progress();
    } else if (output.isWritable() && !h2().isIdle()) {
      progress.atAnyTime();
    } else {
      giveUp();
    }
  }
}
