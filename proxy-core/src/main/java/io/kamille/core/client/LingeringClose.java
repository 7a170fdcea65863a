package io.kamille.core.client;

import io.kamille.core.socket.SocketEnd;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the connection to a client is closed once its last answer is queued. Confined to its loop.
 */
public final class LingeringClose {

  /*
   * After an answer that ends the connection, the client may still be sending. Closing at once
   * would reset the connection and could destroy the answer in flight, so we close our side, read
   * and drop for a moment, and close then (RFC 9112 §9.6), but not while the kernel still waits to
   * send: the least rate holds for that, too. The moment begins anew with what comes, since many
   * clients read no answer before they have sent all; in whole it is bounded. If the client has closed its side before, epoll has
   * nothing more to tell of its socket, not even a reset: so each sweep asks the kernel whether the
   * connection is over.
   *
   * Nothing more comes from a client that has closed its side, or whose request without content
   * said that it is the last (§9.6). Such a connection is closed whole once the kernel has sent all.
   * The kernel is not asked if so little was ever sent that one flight carries it.
   *
   * A client that is too slow is reset, so that the kernel drops what it holds for it; a clean
   * close would leave it to send that for as long as the client likes.
   */
  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final long LINGER_NANOS = Duration.ofSeconds(2).toNanos();
  private static final long MOST_LINGER_NANOS = Duration.ofSeconds(30).toNanos();

  private final ServerShard server;
  private final ClientOutput output;
  private final ClientProgress progress;
  private @Nullable String resetBecause;
  private boolean isOutputClosed;
  private long closedNanos;

  /** Of the client that {@code output} goes to. */
  public LingeringClose(ServerShard server, ClientOutput output, ClientProgress progress) {
    this.server = server;
    this.output = output;
    this.progress = progress;
  }

  /** Once all is with the kernel, closes our side; the client may close its own. */
  public void inStages() {
    channel().write(Unpooled.EMPTY_BUFFER).addListener(written -> closeOutput());
    output.flush();
  }

  private void closeOutput() {
    if (channel().isActive()) {
      server.time().update();
      isOutputClosed = true;
      closedNanos = server.nowNanos();
      linger();
      SslHandler tls = channel().pipeline().get(SslHandler.class);
      if (tls == null) {
        SocketEnd.send(channel());
        closeWithClient();
      } else {
        // The client is told that this is the end and no truncation (RFC 8446 §6.1).
        tls.closeOutbound().addListener(told -> shutdownOutput());
      }
    }
  }

  private void shutdownOutput() {
    if (channel().isActive()) {
      ((DuplexChannel) channel()).shutdownOutput();
      closeWithClient();
    }
  }

  /** The kernel has sent all: once the client has closed its side, nothing is left to wait for. */
  private void closeWithClient() {
    if (sampled() && server.output().unsentBytes() == 0) {
      channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
    }
  }

  /** Nothing more comes from the client: closes the connection once all is with the kernel. */
  public void afterFlush() {
    if (output.isFirstFlight()) {
      output.flush();
      if (output.pendingBytes() == 0) {
        close();
        return;
      }
    }
    channel().write(Unpooled.EMPTY_BUFFER).addListener(written -> closeIfSent());
    output.flush();
  }

  /** The kernel has all: while it waits to send it, only our side closes, and the rate goes on. */
  private void closeIfSent() {
    if (channel().isActive() && sampled() && server.output().unsentBytes() > 0) {
      closeOutput();
    } else {
      close();
    }
  }

  /** Closes the connection, below TLS only behind its word for the end. */
  public void close() {
    if (output.isEncrypted()) {
      channel().close();
    } else {
      SocketEnd.close(channel());
    }
  }

  /** The client has this long to close its side. */
  public void linger() {
    progress.withinNanos(LINGER_NANOS);
  }

  /** The client still sends: it has as long once more, within bounds. */
  public void heard() {
    long left = closedNanos + MOST_LINGER_NANOS - server.nowNanos();
    if (isOutputClosed && left > 0) {
      progress.withinNanos(Math.min(LINGER_NANOS, left));
    }
  }

  /** Whether the kernel says that the connection is over. */
  public boolean isOver() {
    return sampled() && server.output().isClosed();
  }

  /** Closes the connection at once, if its client has the last answer whole. */
  public boolean closeIfAllIsAcknowledged() {
    boolean done = sampled() && server.output().isAllAcknowledged();
    if (done) {
      close();
    }
    return done;
  }

  /** Ends a connection on which nothing has moved. */
  public void giveUp() {
    if (output.pendingBytes() == 0) {
      close();
    } else {
      server.connections().resetStopped();
      reset("the client took nothing of its answer");
    }
  }

  /** Ends a connection whose client takes too little. */
  public void resetTooSlow() {
    server.connections().resetTooSlow();
    reset("the client took its answer too slowly");
  }

  private void reset(String reason) {
    LOG.log(Level.DEBUG, () -> reason + ": " + Accepted.shown(channel()));
    resetBecause = reason;
    if (channel().isOpen()) {
      channel().config().setOption(ChannelOption.SO_LINGER, 0);
    }
    breakOff(channel());
  }

  /** As {@link #breakOff(Channel)}, behind what is queued; {@code byReset} tells it from an end. */
  public static void breakOff(Channel channel, boolean byReset) {
    if (byReset && channel.isOpen()) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> breakOff(channel));
  }

  /**
   * Closes the socket below TLS, if there is TLS: what was sent must not pass for complete, so
   * nothing says that this is the end.
   */
  public static void breakOff(Channel channel) {
    ChannelHandlerContext first = channel.pipeline().firstContext();
    if (first == null) {
      channel.close();
    } else {
      first.close();
    }
  }

  /** Why the connection was reset, or else this. */
  public String reason(String otherwise) {
    return resetBecause == null ? otherwise : resetBecause;
  }

  private boolean sampled() {
    return server.output().sample(channel());
  }

  private Channel channel() {
    return output.channel();
  }
}
