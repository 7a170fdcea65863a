package io.kamille.core.client.h1;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ClientSocket;
import io.kamille.core.client.LoopConnections;
import io.kamille.core.client.RequestAdmission;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection to a client: heads in, exchanges one after the other, answers out (RFC
 * 9112 §9). Confined to its loop.
 */
public final class H1ClientConnection extends ClientSocket {

  /*
   * At most one exchange is under way. What the client sends meanwhile (pipelining) waits in the
   * input, and reading stops until the exchange is over: order comes for free, memory is bounded by
   * one read. The same holds while the client does not take its answers: no head is looked at until
   * the output is writable again.
   *
   * An idle connection holds no buffer, no parser and no exchange. All three come from the loop
   * with the first octet of a head. An exchange that is over when the handler returns goes back to
   * the loop; one that somebody may still hold on to is left to the garbage collector.
   */
  private enum Phase {
    /** Between requests, or within a head. */
    HEAD,
    /** An exchange is under way. */
    EXCHANGE,
    /** Both sides talk another protocol. */
    TUNNEL
  }

  private final H1Shard shard;
  private final LoopConnections connections;
  private final RequestAdmission admission;
  private final Pipeline pipeline;
  private Phase phase = Phase.HEAD;
  private @Nullable H1Exchange exchange;
  private boolean moreBehind;

  /**
   * A connection that belongs to the loop of {@code shard}.
   *
   * @param secure whether what goes over it is encrypted
   */
  public H1ClientConnection(H1Shard shard, Accepted accepted, boolean secure) {
    super(shard.server(), accepted, secure, "HTTP/1.1");
    this.shard = shard;
    this.connections = server.connections();
    this.admission = new RequestAdmission(server, accepted.tally(), accepted.client());
    this.pipeline = new Pipeline(server, this::processNext);
  }

  // What comes

  @Override
  protected void processingBegins() {
    pipeline.turnBegins();
  }

  @Override
  protected boolean take(ByteBuf in) {
    return switch (phase) {
      case HEAD -> head(in);
      case EXCHANGE -> content(in);
      case TUNNEL -> exchange != null && exchange.tunnelArrived(in);
    };
  }

  private boolean head(ByteBuf in) {
    H1Exchange begun = exchange;
    if (begun == null && (!output.isWritable() || pipeline.delayNext())) {
      awaitClient();
      return false;
    }
    if (begun == null && isEmptyLine(in)) {
      return true;
    }
    H1Exchange current = begun == null ? shard.exchange(this) : begun;
    exchange = current;
    switch (current.parser().parse(in)) {
      case NEED_MORE -> {
        if (begun == null) {
          progress.within(server.settings().headTimeout());
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
      case MALFORMED -> refuseHead(current.parser().failure());
    }
    return true;
  }

  /** Clients send one behind the content of a POST (RFC 9112 §2.2): it begins no request. */
  private static boolean isEmptyLine(ByteBuf in) {
    int at = in.readerIndex();
    boolean isEmpty =
        in.getByte(at) == '\r' && in.readableBytes() >= 2 && in.getByte(at + 1) == '\n';
    if (isEmpty) {
      in.skipBytes(2);
    }
    return isEmpty;
  }

  @Override
  protected void refuseHead(Failure why) {
    H1Exchange current = Objects.requireNonNull(exchange);
    connections.headIsOver(this);
    phase = Phase.EXCHANGE;
    progress.atAnyTime();
    current.refuse(why);
  }

  private void begin(H1Exchange current) {
    phase = Phase.EXCHANGE;
    progress.atAnyTime();
    current.request().secure(isSecure());
    identify(current.request());
    if (current.handle() && !isGone()) {
      admission.begun(current.request(), current.headBytes());
    }
  }

  private boolean content(ByteBuf in) {
    H1Exchange current = exchange;
    if (current == null || !current.wantsContent()) {
      return false;
    }
    current.contentArrived(in);
    return true;
  }

  @Override
  protected void inputEnded() {
    H1Exchange current = exchange;
    switch (phase) {
      case HEAD -> {
        // Of a request whose head is cut short nobody has heard.
        if (current != null) {
          current.leave();
          exchange = null;
        }
        end();
      }
      case EXCHANGE -> {
        if (current != null && current.wantsContent()) {
          current.breakOff(
              Failure.of(ErrorType.CLIENT_GONE, "the client closed within its content"));
        } else if (current != null) {
          current.inputEnded();
          leaveIfAwaited(current);
        }
      }
      case TUNNEL -> {
        if (current != null) {
          current.tunnelInputClosed();
        }
      }
    }
  }

  /** A client that closes is mostly gone: nobody can tell it from one that still listens. */
  private void leaveIfAwaited(H1Exchange current) {
    if (server.settings().answersHalfClosed() || !current.isAwaited()) {
      return;
    }
    current.leftBy(Failure.of(ErrorType.CLIENT_GONE, "the client closed its side"));
    if (exchange == current) {
      exchange = null;
      admission.over();
      end();
    }
  }

  @Override
  protected void gone(Failure why) {
    admission.over();
    H1Exchange current = exchange;
    exchange = null;
    if (current != null) {
      current.notSent(output.unsentRegionBytes());
      current.gone(why);
    }
  }

  // What goes

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    writabilityChanged();
  }

  @Override
  public void writabilityChanged() {
    H1Exchange current = exchange;
    if (isBetweenRequests()) {
      betweenRequests();
    } else if (current == null || phase == Phase.HEAD) {
      return;
    } else if (output.isWritable()) {
      if (phase == Phase.EXCHANGE && !current.wantsContent()) {
        progress.atAnyTime();
      }
      current.resumeSource();
    } else {
      awaitClient();
      current.pauseSource();
    }
  }

  /** Between requests, a client is read from only while it takes its answers. */
  private void betweenRequests() {
    if (output.isWritable()) {
      settle();
      pipeline.planNext();
    } else {
      awaitClient();
      readMore(false);
    }
  }

  @Override
  public void notSent(long bytes) {
    if (exchange != null) {
      exchange.notSent(bytes);
    }
  }

  // What the exchange asks for

  /** Whether this connection will end with the present exchange. */
  boolean mustClose() {
    return connections.isDraining() || (isInputClosed() && !moreBehind && isInputEmpty());
  }

  /** Whether the next request of the client may begin. */
  RequestAdmission admission() {
    return admission;
  }

  /** Both sides talk another protocol from now on. */
  void becomeTunnel() {
    phase = Phase.TUNNEL;
    progress();
  }

  /** Takes no request of this client for a while, once the present exchange is over. */
  void holdBack(long nanos) {
    pipeline.holdBack(nanos);
  }

  // From one request to the next

  /** Nothing of the exchange is left, and its handler has returned; once. */
  void exchangeEnded() {
    H1Exchange over = exchange;
    if (over == null || isGone()) {
      return;
    }
    exchange = null;
    over.leave();
    admission.over();
    boolean ends = over.endsConnection() || mustClose();
    boolean isLastSaid = over.isLastSaid() && !moreBehind && !connections.isDraining();
    if (over.isReusable()) {
      shard.giveBack(over);
    }
    if (ends) {
      end(isLastSaid && isInputEmpty());
      return;
    }
    phase = Phase.HEAD;
    settle();
    if (!isInputEmpty() || isInputClosed()) {
      pipeline.planNext();
    } else {
      readMore(true);
    }
  }

  /** Waits for the next request: idle, unless its beginning is here already. */
  private void settle() {
    if (!isProcessing()) {
      server.time().update();
    }
    connections.used(this);
    if (output.isBehind()) {
      awaitClient();
    } else if (isInputEmpty() && !isInputClosed()) {
      progress.atAnyTime();
    } else {
      progress.within(server.settings().idleTimeout());
    }
  }

  /** Goes on with the next request, if it still stands there. */
  private void processNext() {
    if (phase != Phase.HEAD || !isOpen() || (!isInputEmpty() && pipeline.delayIfHeld())) {
      return;
    }
    if (!isInputEmpty()) {
      pipeline.comesToNext();
    }
    processWaiting();
  }

  private boolean isBetweenRequests() {
    return isOpen() && phase == Phase.HEAD && exchange == null;
  }

  @Override
  protected boolean isIdle() {
    return isBetweenRequests() && isInputEmpty() && !isInputClosed() && output.pendingBytes() == 0;
  }

  @Override
  protected void drain() {
    if (isBetweenRequests() && isInputEmpty() && !connections.isLastRequestAwaited()) {
      end();
    }
  }

  // Deadlines

  @Override
  protected Duration patience() {
    return phase == Phase.TUNNEL ? server.settings().tunnelTimeout() : super.patience();
  }

  @Override
  protected void checkOpen() {
    H1Exchange current = exchange;
    if (phase == Phase.EXCHANGE && current != null && current.isUploadTooSlow()) {
      breakOff(current, "the request content came too slowly");
    } else if (phase == Phase.TUNNEL && connections.mustEndTunnels()) {
      close();
    } else if (phase != Phase.TUNNEL && progress.isTooSlow(false)) {
      resetTooSlow();
    } else if (isBetweenRequests() && !progress.isAwaited()) {
      // What was written last has not left whole.
      awaitClient();
    } else if (progress.isLate()) {
      deadlineHasPassed(current);
    }
  }

  private void deadlineHasPassed(@Nullable H1Exchange current) {
    if (phase == Phase.HEAD && current != null && current.parser().isBlank()) {
      connections.headIsOver(this);
      current.leave();
      exchange = null;
      progress.atAnyTime();
    } else if (phase == Phase.HEAD && current != null) {
      refuseHead(Failure.request(StatusCode.REQUEST_TIMEOUT, "the request head took too long"));
    } else if (progress.hasMoved()) {
      progress();
    } else {
      nothingHasMoved(current);
    }
  }

  private void nothingHasMoved(@Nullable H1Exchange current) {
    boolean wantsContent = current != null && current.wantsContent();
    if (phase == Phase.TUNNEL) {
      close();
    } else if (wantsContent && isInputPaused()) {
      // The origin is slow to take it, not the client to send it.
      progress();
    } else if (wantsContent) {
      breakOff(Objects.requireNonNull(current), "the request content took too long");
    } else if (phase == Phase.EXCHANGE && output.isWritable()) {
      progress.atAnyTime();
    } else {
      giveUp();
    }
  }

  private void breakOff(H1Exchange current, String reason) {
    progress.atAnyTime();
    current.breakOff(Failure.request(StatusCode.REQUEST_TIMEOUT, reason));
  }
}
