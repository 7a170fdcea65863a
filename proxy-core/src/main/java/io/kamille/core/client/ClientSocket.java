package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.gate.ForwardedReader;
import io.kamille.core.http.RequestHead;
import io.kamille.core.tls.ClientCertificate;
import io.kamille.core.tls.HandshakeTrouble;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The socket of one client, as every version of HTTP uses it: what comes, what goes, how long it
 * may stand still, and how it is closed. Confined to its loop.
 */
public abstract class ClientSocket extends ListedConnection implements ClientOutput.Owner {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private enum Stage {
    OPEN,
    /** Our side is closed, or will be with the last octet; what still comes is dropped. */
    LINGERING,
    CLOSED
  }

  protected final ServerShard server;
  protected final Channel channel;
  protected final ClientOutput output;
  protected final ClientProgress progress;
  private final boolean secure;
  private final String tlsVersion;
  private final InetSocketAddress client;
  private final InetSocketAddress local;
  private final @Nullable ClientCertificate certificate;
  private final @Nullable ForwardedReader reader;
  private final LoopConnections connections;
  private final LingeringClose farewell;
  private Stage stage = Stage.OPEN;
  private boolean processing;
  private @Nullable ByteBuf waiting;
  private boolean inputPaused;
  private boolean inputClosed;

  /**
   * The socket of a connection, which belongs to the loop of {@code server}.
   *
   * @param secure whether what goes over it is encrypted
   * @param version of HTTP, for people
   */
  @SuppressWarnings("this-escape") // the output tells of nothing before something is written
  protected ClientSocket(ServerShard server, Accepted accepted, boolean secure, String version) {
    this.server = server;
    this.connections = server.connections();
    this.channel = accepted.channel();
    this.secure = secure;
    this.tlsVersion = tlsVersion(channel);
    this.client = accepted.client();
    this.local = accepted.local();
    this.certificate = accepted.certificate();
    this.reader = accepted.reader();
    String protocol = secure ? version + " over TLS" : version;
    this.tunable = server.opened(channel, accepted.peer(), protocol);
    this.output = new ClientOutput(channel, server.time(), server.flushes(), this, tunable, secure);
    this.progress = new ClientProgress(server, output);
    this.farewell = new LingeringClose(server, output, progress);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    server.time().update();
    connections.begun(this);
  }

  public final InetSocketAddress client() {
    return client;
  }

  /** The address of ours that the client connected to. */
  public final InetSocketAddress local() {
    return local;
  }

  /** Has the request say whose it is, and removes what its client says about that. */
  protected final void identify(RequestHead request) {
    ClientCertificate.tell(certificate, request.fields());
    if (reader != null) {
      reader.identify(request);
    }
  }

  /** Whether the other end is a proxy that is believed. */
  protected final boolean isTrusted() {
    return reader != null && reader.isTrusted();
  }

  private static String tlsVersion(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    return tls == null ? "" : tls.engine().getSession().getProtocol();
  }

  /** The version of TLS, such as {@code TLSv1.3}; empty for none. */
  public final String tlsVersion() {
    return tlsVersion;
  }

  /** Whether what goes over it is encrypted. */
  protected final boolean isSecure() {
    return secure;
  }

  public final ClientOutput output() {
    return output;
  }

  /** Whether nobody between us and the socket wants to see the octets. */
  @SuppressWarnings("ReferenceEquality") // whether it is this very handler is the question
  public final boolean takesRegions() {
    return !secure && channel.pipeline().first() == this;
  }

  // What comes

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    isQuiet = false;
    output.burstBegins();
    server.read();
    process(behindWaiting((ByteBuf) message));
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    output.burstEnds();
  }

  /** What waited, and these octets behind it. Takes ownership, gives ownership. */
  private ByteBuf behindWaiting(ByteBuf in) {
    ByteBuf before = waiting;
    if (before == null) {
      return in;
    }
    waiting = null;
    return joined(before, in);
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

  private void process(ByteBuf in) {
    boolean kept = false;
    processing = true;
    try {
      processingBegins();
      while (in.isReadable() && !kept) {
        if (stage == Stage.OPEN) {
          kept = !take(in);
        } else {
          in.skipBytes(in.readableBytes());
          farewell.heard();
        }
      }
    } finally {
      processing = false;
      server.shedder().done();
      if (!kept) {
        in.release();
      }
    }
    if (kept) {
      waiting = in;
      readMore(false);
    }
    if (inputClosed) {
      inputEnds();
    }
  }

  /** Octets have come, or come again: {@link #take} follows until they are used up. */
  protected void processingBegins() {}

  /**
   * Takes some of what has come. Borrows the buffer.
   *
   * @return false if nobody takes it now: it waits, and no more is read
   */
  protected abstract boolean take(ByteBuf in);

  /** Hands over what came while nobody was there to take it. */
  public final void processWaiting() {
    ByteBuf in = waiting;
    waiting = null;
    readMore(true);
    if (in != null) {
      process(in);
    } else if (inputClosed) {
      inputEnds();
    }
  }

  /** Whether the client may send more now. */
  public final void readMore(boolean wanted) {
    if (inputPaused == wanted && channel.isOpen()) {
      inputPaused = !wanted;
      channel.config().setAutoRead(wanted);
    }
  }

  /** Whether the client is not read from. */
  protected final boolean isInputPaused() {
    return inputPaused;
  }

  /** Whether nothing has come that nobody has taken yet. */
  protected final boolean isInputEmpty() {
    return waiting == null;
  }

  private void dropWaiting() {
    if (waiting != null) {
      waiting.release();
      waiting = null;
    }
  }

  /** Whether this is called by {@link #take}. */
  protected final boolean isProcessing() {
    return processing;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ChannelInputShutdownEvent.INSTANCE) {
      inputClosed = true;
      inputEnds();
    }
  }

  private void inputEnds() {
    if (waiting != null || processing) {
      return;
    }
    switch (stage) {
      case OPEN -> inputEnded();
      case LINGERING -> end();
      case CLOSED -> {}
    }
  }

  /** The client has said all it has to say, and all of it was taken; it may still listen. */
  protected abstract void inputEnded();

  /** Whether the client has closed its side, be it that something of it waits. */
  protected final boolean isInputClosed() {
    return inputClosed;
  }

  // How long it may stand still

  /** How long nothing may move while something is under way. */
  protected Duration patience() {
    return server.settings().contentTimeout();
  }

  private Duration patienceNow() {
    return stage == Stage.LINGERING ? server.settings().contentTimeout() : patience();
  }

  /** Something moved: the time-out begins anew. */
  public final void progress() {
    progress.within(patienceNow());
  }

  /** The client has to take something of what waits for it. */
  protected final void awaitClient() {
    progress.moveWithin(patienceNow());
  }

  @Override
  protected final void checkDeadlines() {
    try {
      if (stage == Stage.LINGERING) {
        checkLingering();
      } else {
        checkOpen();
      }
    } catch (RuntimeException | OutOfMemoryError bug) {
      endBy(bug);
    }
  }

  /** As {@link #checkDeadlines}, while the connection is open. */
  protected abstract void checkOpen();

  /** Ends a connection whose client takes too little. */
  protected final void resetTooSlow() {
    farewell.resetTooSlow();
  }

  /** Ends a connection on which nothing has moved. */
  protected final void giveUp() {
    farewell.giveUp();
  }

  private void checkLingering() {
    if (farewell.isOver()) {
      close();
    } else if (progress.isTooSlow(true)) {
      farewell.resetTooSlow();
    } else if (!progress.isLate()) {
      return;
    } else if (progress.hasMoved()) {
      progress();
    } else if (progress.isMeasured() && output.pendingBytes() == 0) {
      farewell.linger();
    } else {
      farewell.giveUp();
    }
  }

  // How it is closed

  /** Closes the connection once the last answer is with the client; what still comes is dropped. */
  @Override
  protected final void end() {
    end(false);
  }

  /** As {@link #end()}; {@code isLastSaid} if the client has said that it sends nothing more. */
  protected final void end(boolean isLastSaid) {
    if (stage == Stage.CLOSED) {
      return;
    }
    linger();
    if (!inputClosed) {
      readMore(true);
    }
    if (inputClosed || isLastSaid) {
      farewell.afterFlush();
    } else {
      farewell.inStages();
    }
  }

  /** The connection is about to be closed: the last moment for a word of farewell. */
  protected void ending() {}

  private void linger() {
    if (stage != Stage.LINGERING) {
      ending();
      stage = Stage.LINGERING;
      connections.lingers(this);
    }
    awaitClient();
    dropWaiting();
  }

  @Override
  protected final void close() {
    farewell.close();
  }

  @Override
  protected final void closeIdle() {
    linger();
    close();
  }

  @Override
  protected final boolean closeIfAllIsAcknowledged() {
    return farewell.closeIfAllIsAcknowledged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closed("the client closed the connection");
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // What a socket throws is the end of this client and nothing else: no stack trace in the log.
    if (!(HandshakeTrouble.unwrapped(cause) instanceof IOException)) {
      LOG.log(Level.ERROR, "a connection ends by a fault of ours", cause);
    }
    closed("the connection to the client broke: " + cause.getMessage());
    close();
  }

  @Override
  protected final void endBy(Throwable bug) {
    LOG.log(Level.ERROR, "a connection ends by a fault of ours", bug);
    try {
      closed("a fault in the proxy");
    } catch (RuntimeException | OutOfMemoryError another) {
      LOG.log(Level.ERROR, "and so did its end", another);
    } finally {
      close();
    }
  }

  private void closed(String reason) {
    if (stage != Stage.CLOSED) {
      stage = Stage.CLOSED;
      connections.gone(this);
      if (tunable != null) {
        tunable.closed();
      }
      dropWaiting();
      gone(Failure.of(ErrorType.CLIENT_GONE, farewell.reason(reason)));
    }
  }

  /** The connection is closed; once. */
  protected abstract void gone(Failure why);

  /** Whether nobody has begun to close it. */
  protected final boolean isOpen() {
    return stage == Stage.OPEN;
  }

  /** Whether {@link #gone} was called. */
  protected final boolean isGone() {
    return stage == Stage.CLOSED;
  }
}
