package io.kamille.core.server.h1;

import io.kamille.core.admission.ClientTally;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.http.StatusCode;
import io.kamille.core.server.connection.ClientConnections;
import io.kamille.core.server.connection.ClientSettings;
import io.kamille.core.server.connection.LeastRate;
import io.kamille.core.server.connection.ListedConnection;
import io.kamille.core.server.connection.PendingRegions;
import io.kamille.core.server.connection.ServerShard;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a client: heads in, exchanges one after the other, answers out (RFC 9112 §9).
 * Confined to its loop.
 */
public final class ClientConnection extends ListedConnection {

  /*
   * At most one exchange is under way. What the client sends meanwhile (pipelining) waits in
   * `waiting`, and reading stops until the exchange is over: order comes for free, memory is
   * bounded by one read. The same holds while the client does not take its answers: no head is
   * looked at until the channel is writable again.
   *
   * A connection is in one list of its loop: among the idle ones, or among the busy ones, those within
   * a head and those that linger, whose deadlines are looked at. On a hit it is over with the exchange before it
   * would change lists.
   *
   * An idle connection holds no buffer, no parser and no exchange. All three come from the loop
   * with the first octet of a head. An exchange that is over when the handler returns goes back to
   * the loop; one that somebody may still hold on to is left to the garbage collector.
   *
   * A region of a file waits in the channel's queue like everything else, but the channel does not
   * count its octets. So they are counted here, and as long as any are left the client passes for
   * one that does not take its answers.
   *
   * A client is slow while octets wait for it, be its exchange over or not: it is among the busy ones
   * then, and each sweep looks whether it takes them fast enough. What it takes is what its side has
   * acknowledged. How the kernel empties a send buffer of megabytes says little: it takes more only
   * once a third of it has gone. A client that is too slow is reset, so that the kernel drops what it
   * holds for it; a clean close would leave it to send that for as long as the client likes.
   *
   * A client that was shed is held back for some seconds: the first that it sends meanwhile waits
   * here, unread, and the rest with the kernel. One that obeys and sends nothing costs nothing:
   * neither a timer nor a change of what the kernel tells of its socket.
   *
   * After an answer that ends the connection, the client may still be sending. Closing at once
   * would reset the connection and could destroy the answer in flight, so we close our side, read
   * and drop for a moment, and close then (RFC 9112 §9.6), but not while the kernel still waits to
   * send: the pace holds for that, too. The same holds for one that has closed its side before. Of
   * such a socket epoll has nothing more to tell, not even a reset: so each sweep asks the kernel
   * whether the connection is over.
   */
  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final long LINGER_NANOS = Duration.ofSeconds(2).toNanos();
  private static final long NEVER = Long.MAX_VALUE;

  private enum Phase {
    /** Between requests, or within a head. */
    HEAD,
    /** An exchange is under way. */
    EXCHANGE,
    /** Both sides talk another protocol. */
    TUNNEL,
    /** Our side is closed; what still comes is dropped. */
    LINGER,
    CLOSED
  }

  private final H1Shard shard;
  private final ServerShard shared;
  private final ClientConnections connections;

  private final Channel channel;
  private final InetSocketAddress client;
  private final InetSocketAddress local;
  private final boolean secure;
  private final ClientTally tally;
  private Phase phase = Phase.HEAD;
  private @Nullable ClientExchange exchange;
  private @Nullable ByteBuf waiting;
  private @Nullable PendingRegions regions;
  private @Nullable LeastRate pace;
  private @Nullable String resetBecause;
  private long deadlineNanos = NEVER;
  private long pendingSeen;
  private long takenSeen;
  private boolean reading;
  private boolean processing;
  private boolean handling;
  private boolean moreBehind;
  private boolean flushPlanned;
  private boolean unflushed;
  private boolean readPaused;
  private long heldUntilNanos;
  private long readySinceNanos;
  private boolean heldBack;
  private boolean letGoIsDue;
  private boolean inputClosed;
  private boolean tallied;
  private int headBytesUnderWay;

  /**
   * The connection on {@code channel}, which belongs to the loop of {@code shard}.
   *
   * @param tally of its client, which knows of the connection
   */
  public ClientConnection(H1Shard shard, Channel channel, boolean secure, ClientTally tally) {
    this.shard = shard;
    this.shared = shard.server;
    this.connections = shared.connections();
    this.channel = channel;
    this.client = (InetSocketAddress) channel.remoteAddress();
    this.local = (InetSocketAddress) channel.localAddress();
    this.secure = secure;
    this.tally = tally;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    shared.time().look();
    connections.begun(this);
  }

  // Toward us

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    reading = true;
    shared.read();
    ByteBuf before = waiting;
    if (before != null) {
      waiting = null;
      in = joined(before, in);
    }
    process(in);
  }

  /**
   * Octets that waited and those behind them. Room is doubled: once a client has closed its side,
   * epoll delivers all that the kernel holds, whether we read or not. Takes ownership of both.
   */
  private static ByteBuf joined(ByteBuf before, ByteBuf behind) {
    ByteBuf joined = before;
    if (before.writableBytes() < behind.readableBytes()) {
      int length = before.readableBytes() + behind.readableBytes();
      joined = before.alloc().directBuffer(2 * length).writeBytes(before);
      before.release();
    }
    joined.writeBytes(behind);
    behind.release();
    return joined;
  }

  /** Takes as much as can be taken now. Takes ownership. */
  private void process(ByteBuf in) {
    boolean kept = false;
    processing = true;
    try {
      while (in.isReadable() && !kept) {
        switch (phase) {
          case HEAD -> kept = head(in);
          case EXCHANGE -> kept = content(in);
          case TUNNEL -> {
            // Given away whole, and gone even if the taker throws.
            kept = true;
            tunnel(in);
          }
          case LINGER, CLOSED -> in.skipBytes(in.readableBytes());
        }
      }
    } finally {
      processing = false;
      shared.shedder().done();
      if (!kept) {
        in.release();
      }
    }
    if (inputClosed) {
      inputEnds();
    }
  }

  /** Keeps what nobody takes now, and reads no more. */
  private boolean keep(ByteBuf in) {
    waiting = in;
    readMore(false);
    return true;
  }

  private boolean head(ByteBuf in) {
    ClientExchange begun = exchange;
    if (begun == null && (isHeldBack() || !isWritable())) {
      connections.busy(this);
      awaitClient();
      return keep(in);
    }
    ClientExchange current = begun == null ? shard.take(this) : begun;
    exchange = current;
    switch (current.parse(in)) {
      case NEED_MORE -> {
        if (begun == null) {
          deadline(shared.settings().headTimeout());
        }
        connections.headGrew(this, current.headBytes());
      }
      case COMPLETE -> {
        if (begun != null) {
          connections.headIsOver(this);
        }
        moreBehind = in.isReadable();
        begin(current);
      }
      case MALFORMED -> refuseHead(current, current.parseFailure());
    }
    return false;
  }

  /** Answers the head of which a part has come with this. */
  @Override
  protected void refuseHead(Failure why) {
    ClientExchange current = exchange;
    if (current == null) {
      throw new IllegalStateException("refuseHead: no head is under way");
    }
    refuseHead(current, why);
  }

  private void refuseHead(ClientExchange current, Failure why) {
    connections.headIsOver(this);
    connections.busy(this);
    phase = Phase.EXCHANGE;
    deadlineNanos = NEVER;
    current.refuse(why);
  }

  private void begin(ClientExchange current) {
    phase = Phase.EXCHANGE;
    deadlineNanos = NEVER;
    current.request().secure(secure);
    handling = true;
    current.handle();
    handling = false;
    if (current.isOver()) {
      exchangeIsOver(current, current.isReusable());
    } else if (phase != Phase.CLOSED) {
      connections.busy(this);
      tallied = true;
      tally.requestBegun();
      headBytesUnderWay = shared.headsUnderWay().begun(current.headBytes());
    }
  }

  /** What had begun is over: its client may have another one. */
  private void untally() {
    if (tallied) {
      tallied = false;
      tally.requestOver();
      shared.headsUnderWay().over(headBytesUnderWay);
    }
  }

  private boolean content(ByteBuf in) {
    ClientExchange current = exchange;
    if (current != null && current.wantsContent()) {
      current.contentArrived(in);
      return false;
    }
    return keep(in);
  }

  /** Takes ownership. */
  private void tunnel(ByteBuf in) {
    ClientExchange current = exchange;
    if (current == null || !current.isTunnelStarted()) {
      keep(in);
    } else {
      progress();
      current.tunnelArrived(in);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    reading = false;
    if (unflushed) {
      flush();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ChannelInputShutdownEvent.INSTANCE) {
      inputClosed = true;
      inputEnds();
    }
  }

  /** The client has said all it has to say; it may still listen. */
  private void inputEnds() {
    if (waiting != null || processing) {
      return;
    }
    ClientExchange current = exchange;
    switch (phase) {
      case HEAD, LINGER -> closeAfterFlush();
      case EXCHANGE -> {
        if (current != null && current.wantsContent()) {
          current.breakOff(Failure.of(Kind.CLIENT_GONE, "the client closed within its content"));
        }
      }
      case TUNNEL -> {
        if (current != null) {
          current.tunnelInputClosed();
        }
      }
      case CLOSED -> {}
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closed("the client closed the connection");
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // What a socket throws is the end of this client and nothing else: no stack trace in the log.
    if (!(cause instanceof IOException)) {
      LOG.log(Level.ERROR, "a connection ends by a fault of ours", cause);
    }
    closed("the connection to the client broke: " + cause.getMessage());
    channel.close();
  }

  private void closed(String reason) {
    if (phase == Phase.CLOSED) {
      return;
    }
    phase = Phase.CLOSED;
    untally();
    connections.gone(this);
    if (waiting != null) {
      waiting.release();
      waiting = null;
    }
    ClientExchange current = exchange;
    exchange = null;
    if (current != null) {
      if (regions != null) {
        current.notSent(regions.unsentBytes());
      }
      String cause = resetBecause == null ? reason : resetBecause;
      current.clientGone(Failure.of(Kind.CLIENT_GONE, cause));
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    writabilityChanged();
  }

  private void writabilityChanged() {
    ClientExchange current = exchange;
    if (phase == Phase.HEAD) {
      if (current == null) {
        betweenRequests();
      }
    } else if (current == null) {
      return;
    } else if (isWritable()) {
      if (phase == Phase.EXCHANGE && !current.wantsContent()) {
        deadlineNanos = NEVER;
      }
      current.resumeSource();
    } else {
      awaitClient();
      current.pauseSource();
    }
  }

  /** Between requests, a client is read from only while it takes its answers. */
  private void betweenRequests() {
    if (isWritable()) {
      settle();
      planNext();
    } else {
      connections.busy(this);
      awaitClient();
      readMore(false);
    }
  }

  /** Whether the client takes its answers: no region waits, nor too many octets. */
  boolean isWritable() {
    return regions == null && channel.isWritable();
  }

  private void awaitClient() {
    progress();
    pendingSeen = pendingBytes();
  }

  // For the exchange

  Channel channel() {
    return channel;
  }

  InetSocketAddress client() {
    return client;
  }

  InetSocketAddress local() {
    return local;
  }

  /** Whether this connection will end with the present exchange. */
  boolean mustClose() {
    return connections.isDraining() || (inputClosed && !moreBehind && waiting == null);
  }

  /** Whether its client has as many requests under way as it may; the refusal is counted. */
  boolean refusesRequest() {
    return tally.refusesRequest();
  }

  /** Whether {@code exchange} is the one under way. */
  boolean isAt(ClientExchange exchange) {
    return this.exchange == exchange;
  }

  /** Queues octets; they leave at the end of this burst. Takes ownership. */
  void write(ByteBuf octets) {
    channel.write(octets, channel.voidPromise());
    flushSoon();
  }

  /** Whether nobody between us and the socket wants to see the octets. */
  boolean takesRegions() {
    return !secure && channel.pipeline().first() == this;
  }

  /** As {@link #write(ByteBuf)}; the client passes for slow until the region has left. */
  void write(FileRegion region) {
    boolean isFirst = regions == null;
    PendingRegions pending = regions == null ? new PendingRegions() : regions;
    regions = pending;
    pending.add(region);
    channel.write(region).addListener(_ -> left(pending));
    flushSoon();
    if (isFirst) {
      writabilityChanged();
    }
  }

  /** The oldest region has left: it is with the kernel, or it was dropped with the connection. */
  private void left(PendingRegions pending) {
    long unsent = pending.remove();
    if (unsent > 0 && exchange != null) {
      exchange.notSent(unsent);
    }
    if (pending.isEmpty()) {
      regions = null;
      if (isWritable()) {
        shared.time().look();
        writabilityChanged();
      }
    }
  }

  /** Something was queued on the channel: it leaves at the end of this burst. */
  void flushSoon() {
    unflushed = true;
    if (!reading && !flushPlanned) {
      flushPlanned = true;
      shared.loop().execute(this::flushPlanned);
    }
  }

  private void flushPlanned() {
    flushPlanned = false;
    if (unflushed) {
      flush();
    }
  }

  private void flush() {
    unflushed = false;
    channel.flush();
    if (phase == Phase.HEAD && exchange == null && !connections.isBusy(this) && isBehind()) {
      connections.busy(this);
      awaitClient();
    }
  }

  /** Something moved: the content time-out begins anew. */
  void progress() {
    deadline(
        phase == Phase.TUNNEL
            ? shared.settings().tunnelTimeout()
            : shared.settings().contentTimeout());
  }

  /** Whether the client may send more now. */
  void readMore(boolean wanted) {
    if (readPaused == wanted && channel.isOpen()) {
      readPaused = !wanted;
      channel.config().setAutoRead(wanted);
    }
  }

  /** The exchange has come to its end outside {@link #begin}. */
  void exchangeEnded(ClientExchange ended) {
    if (exchange == ended && !handling) {
      exchangeIsOver(ended, false);
    }
  }

  void becomeTunnel() {
    phase = Phase.TUNNEL;
    progress();
  }

  /** Hands over what came while nobody was there to take it. */
  void processWaiting() {
    ByteBuf in = waiting;
    waiting = null;
    readMore(true);
    if (in != null) {
      process(in);
    } else if (inputClosed) {
      inputEnds();
    }
  }

  /** Takes no request of this client for a while, once the present exchange is over. */
  void holdBack(long nanos) {
    heldBack = true;
    heldUntilNanos = shared.nowNanos() + nanos;
  }

  /** Whether nothing is taken of this client now; if so, it will be looked at when that is over. */
  private boolean isHeldBack() {
    if (!heldBack) {
      return false;
    }
    long left = heldUntilNanos - shared.nowNanos();
    if (left <= 0) {
      heldBack = false;
    } else if (!letGoIsDue) {
      letGoIsDue = true;
      shared.loop().schedule(this::letGo, left, TimeUnit.NANOSECONDS);
    }
    return heldBack;
  }

  private void letGo() {
    letGoIsDue = false;
    heldBack = false;
    if (exchange == null) {
      shared.time().look();
      readySinceNanos = heldUntilNanos;
      processNext();
    }
  }

  /** Goes on with the next request soon: within this call a long pipeline would nest as deeply. */
  private void planNext() {
    readySinceNanos = shared.nowNanos();
    shared.loop().execute(this::processNext);
  }

  /** Goes on with the next request, if it still stands there. */
  private void processNext() {
    if (phase != Phase.HEAD || (waiting != null && isHeldBack())) {
      return;
    }
    if (waiting != null) {
      shared.comesTo(readySinceNanos);
    }
    processWaiting();
  }

  private void exchangeIsOver(ClientExchange over, boolean reusable) {
    if (phase == Phase.CLOSED) {
      return;
    }
    exchange = null;
    untally();
    boolean ends = over.endsConnection() || mustClose();
    if (reusable) {
      shard.giveBack(over);
    }
    if (ends) {
      end();
      return;
    }
    phase = Phase.HEAD;
    settle();
    if (waiting != null || inputClosed) {
      planNext();
    } else {
      readMore(true);
    }
  }

  /** Waits for the next request: idle, unless its beginning is here already. */
  private void settle() {
    if (!processing) {
      shared.time().look();
    }
    if (isBehind()) {
      connections.busy(this);
      awaitClient();
    } else if (waiting == null && !inputClosed) {
      deadlineNanos = NEVER;
      connections.idle(this);
    } else {
      connections.busy(this);
      deadline(shared.settings().idleTimeout());
    }
  }

  private void end() {
    if (phase == Phase.CLOSED) {
      return;
    }
    if (inputClosed) {
      closeAfterFlush();
      return;
    }
    linger();
    readMore(true);
    channel.write(Unpooled.EMPTY_BUFFER).addListener(written -> closeOutput());
    flush();
  }

  private void closeOutput() {
    if (channel.isActive()) {
      shared.time().look();
      deadlineNanos = shared.nowNanos() + LINGER_NANOS;
      ((DuplexChannel) channel).shutdownOutput();
    }
  }

  private void closeAfterFlush() {
    linger();
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> closeIfSent());
  }

  /** The kernel has all: while it waits to send it, only our side closes, and the pace goes on. */
  private void closeIfSent() {
    if (channel.isActive() && shared.output().look(channel) && shared.output().unsentBytes() > 0) {
      closeOutput();
    } else {
      channel.close();
    }
  }

  private void linger() {
    connections.headIsOver(this);
    if (phase == Phase.HEAD) {
      // Of a request whose head is cut short nobody has heard.
      exchange = null;
    }
    if (phase != Phase.LINGER) {
      phase = Phase.LINGER;
      connections.lingers(this);
    }
    awaitClient();
    if (waiting != null) {
      waiting.release();
      waiting = null;
    }
  }

  // For the loop

  /** Ends the connection if it is idle; one that is not ends with its exchange. */
  @Override
  protected void drain() {
    if (phase == Phase.HEAD && exchange == null && waiting == null) {
      end();
    }
  }

  @Override
  protected void close() {
    channel.close();
  }

  /** Ends the connection in stages, if it is idle indeed. */
  @Override
  protected boolean endIfIdle() {
    boolean idle = staysIdle();
    if (idle) {
      end();
    }
    return idle;
  }

  /** Closes the connection at once, if it is idle indeed. */
  @Override
  protected boolean closeIfIdle() {
    boolean idle = staysIdle();
    if (idle) {
      linger();
      close();
    }
    return idle;
  }

  /** Closes a connection that lingers at once, if its client has the last answer whole. */
  @Override
  protected boolean closeIfAllIsAcknowledged() {
    boolean done = shared.output().look(channel) && shared.output().isAllAcknowledged();
    if (done) {
      close();
    }
    return done;
  }

  /** Whether nothing is under way; else the connection is no longer among the idle ones. */
  private boolean staysIdle() {
    if (isIdle()) {
      return true;
    }
    connections.busy(this);
    awaitClient();
    return false;
  }

  private boolean isIdle() {
    return phase == Phase.HEAD
        && exchange == null
        && waiting == null
        && !inputClosed
        && pendingBytes() == 0;
  }

  /** Acts if the deadline has passed, or if the client sends, or takes, too slowly. */
  @Override
  protected void checkDeadline() {
    try {
      lookAtDeadline();
    } catch (RuntimeException | OutOfMemoryError bug) {
      endBy(bug);
    }
  }

  /** Nothing that one connection does may keep the sweep from the others. */
  @Override
  protected void endBy(Throwable bug) {
    LOG.log(Level.ERROR, "a connection ends by a fault of ours", bug);
    try {
      closed("a fault in the proxy");
    } catch (RuntimeException | OutOfMemoryError another) {
      LOG.log(Level.ERROR, "and so did its end", another);
    } finally {
      channel.close();
    }
  }

  private void lookAtDeadline() {
    ClientExchange current = exchange;
    if (phase == Phase.EXCHANGE && current != null && current.isUploadTooSlow()) {
      breakOff(current, "the request content came too slowly");
      return;
    }
    if (phase == Phase.LINGER && shared.output().look(channel) && shared.output().isClosed()) {
      close();
      return;
    }
    if (takesTooSlowly()) {
      connections.resetTooSlow();
      reset("the client took its answer too slowly");
      return;
    }
    if (isIdle()) {
      settle();
      return;
    }
    if (deadlineNanos == NEVER || shared.nowNanos() - deadlineNanos < 0) {
      return;
    }
    switch (phase) {
      case HEAD -> {
        if (current == null) {
          // The last answers may still be on their way.
          if (hasMoved()) {
            progress();
          } else {
            giveUp();
          }
        } else {
          refuseHead(Failure.request(StatusCode.REQUEST_TIMEOUT, "the request head took too long"));
        }
      }
      case EXCHANGE -> {
        if (hasMoved()) {
          progress();
        } else if (current != null && current.wantsContent()) {
          contentIsLate(current);
        } else if (isWritable()) {
          deadlineNanos = NEVER;
        } else {
          giveUp();
        }
      }
      case TUNNEL -> {
        if (hasMoved()) {
          progress();
        } else {
          close();
        }
      }
      case LINGER -> {
        if (hasMoved()) {
          progress();
        } else if (pace != null && pendingBytes() == 0) {
          deadlineNanos = shared.nowNanos() + LINGER_NANOS;
        } else {
          giveUp();
        }
      }
      case CLOSED -> {}
    }
  }

  /** Ends a connection on which nothing has moved. */
  private void giveUp() {
    if (pendingBytes() == 0) {
      close();
    } else {
      connections.resetStopped();
      reset("the client took nothing of its answer");
    }
  }

  /** Closes the connection and has the kernel drop what it holds for the client. */
  private void reset(String reason) {
    LOG.log(Level.DEBUG, () -> reason + ": " + client);
    resetBecause = reason;
    if (channel.isOpen()) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    close();
  }

  /** Whether something waits for the client, and it takes it slower than it must. */
  private boolean takesTooSlowly() {
    ClientSettings settings = shared.settings();
    if (phase == Phase.TUNNEL || settings.downloadBytesPerSecond() == 0 || !isAwaited()) {
      pace = null;
      return false;
    }
    long now = shared.nowNanos();
    long grace = settings.downloadGrace().toNanos();
    boolean isDue = pace == null || pace.isDue(now, grace);
    if (!isDue || !shared.output().look(channel)) {
      return false;
    }
    takenSeen = shared.output().acknowledgedBytes();
    if (pace == null) {
      pace = new LeastRate(now, takenSeen);
      return false;
    }
    return pace.isTooSlow(now, takenSeen, grace, settings.downloadBytesPerSecond());
  }

  /** Whether octets wait for the client to take others; after the last answer also the kernel's. */
  private boolean isAwaited() {
    return isBehind()
        || (phase == Phase.LINGER
            && shared.output().look(channel)
            && shared.output().unsentBytes() > 0);
  }

  private void contentIsLate(ClientExchange current) {
    if (readPaused) {
      // The origin is slow to take it, not the client to send it.
      progress();
    } else {
      breakOff(current, "the request content took too long");
    }
  }

  private void breakOff(ClientExchange current, String reason) {
    deadlineNanos = NEVER;
    current.breakOff(Failure.request(StatusCode.REQUEST_TIMEOUT, reason));
  }

  /** Whether the client took octets since the last look, however slowly. */
  private boolean hasMoved() {
    long pending = pendingBytes();
    if (pending == 0) {
      pendingSeen = 0;
      return false;
    }
    long taken = shared.output().look(channel) ? shared.output().acknowledgedBytes() : takenSeen;
    boolean moved = pending != pendingSeen || taken != takenSeen;
    pendingSeen = pending;
    takenSeen = taken;
    return moved;
  }

  /** Whether the kernel has not taken all that it was given. */
  private boolean isBehind() {
    return !unflushed && pendingBytes() != 0;
  }

  /** Octets the kernel has not taken. The pending count alone ignores what is partly written. */
  private long pendingBytes() {
    ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
    if (out == null) {
      return 0;
    }
    long inFiles = regions == null ? 0 : regions.bytes();
    return inFiles + out.totalPendingWriteBytes() - out.currentProgress();
  }

  private void deadline(Duration timeout) {
    deadlineNanos = shared.nowNanos() + timeout.toNanos();
  }
}
