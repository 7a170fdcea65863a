package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.wire.Attempt;
import io.kamille.core.origin.wire.ForwardedHead;
import io.kamille.core.origin.wire.OriginDeadlines;
import io.kamille.core.origin.wire.OriginDeadlines.Awaited;
import io.kamille.core.origin.wire.OriginOutput;
import io.kamille.core.origin.wire.OriginSocket;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends one request to an origin: the head, then the content, which may wait for a 100. Used for
 * one request after the other. Confined to its loop.
 */
final class RequestSender {

  private final String origin;
  private final ProxyAnnouncement announcement;
  private final ForwardedHead forwardedHead;
  private final OriginDeadlines deadlines;
  private final Consumer<Failure> uploadBroke;
  private @Nullable ContentUpload upload;
  private boolean upgrades;
  private boolean awaitsContinue;

  /**
   * Sends requests to {@code origin}.
   *
   * @param uploadBroke told if the client did not send all the content it had announced
   */
  RequestSender(
      String origin,
      ConnectionSettings settings,
      ForwardedHead forwardedHead,
      OriginDeadlines deadlines,
      Consumer<Failure> uploadBroke) {
    this.origin = origin;
    this.announcement = settings.proxyProtocol();
    this.forwardedHead = forwardedHead;
    this.deadlines = deadlines;
    this.uploadBroke = uploadBroke;
  }

  /**
   * Sends the request of {@code attempt}.
   *
   * @return whether another request may follow: an origin will surely read all of this one, and
   *     whoever sends that one may be another client
   */
  boolean send(Attempt attempt, OriginOutput out) {
    Exchange exchange = attempt.exchange();
    RequestHead request = exchange.request();
    boolean hasContent = attempt.content().length() != 0;
    upgrades = forwardedHead.allowsUpgrade(request);
    awaitsContinue = attempt.awaitsContinue();
    upload = null;
    deadlines.begin();
    boolean isOfOneClient = announcement != ProxyAnnouncement.OFF;
    if (isOfOneClient) {
      out.write(announcement.of(exchange, out.channel().alloc()));
    }
    ByteBuf head =
        forwardedHead.write(exchange, origin, awaitsContinue, upgrades, out.channel().alloc());
    if (!hasContent) {
      out.writeAndFlush(head);
      return !isOfOneClient;
    }
    out.write(head);
    out.flushSoon();
    upload = new ContentUpload(out, attempt.content(), forwardedHead.removed(), uploadBroke);
    if (!awaitsContinue) {
      upload.start();
    }
    return !isOfOneClient && expectsContent(request.method());
  }

  /** Content of the others means nothing, and may be left unread (RFC 9110 §9.3.1, .2, .5). */
  private static boolean expectsContent(Method method) {
    return method != Method.GET && method != Method.HEAD && method != Method.DELETE;
  }

  /** Whether it asked the origin for another protocol. */
  boolean upgrades() {
    return upgrades;
  }

  /** A final head has come: there will be no 100. */
  void awaitNoContinue() {
    awaitsContinue = false;
  }

  /** The content waits no longer. */
  void startUpload() {
    awaitsContinue = false;
    ContentUpload waiting = upload;
    if (waiting != null && !waiting.isStarted() && !waiting.isOver()) {
      deadlines.begin();
      waiting.start();
    }
  }

  /** Whether content is still to be sent. */
  boolean isUploading() {
    return upload != null && !upload.isOver();
  }

  /** Whether some content was taken from the client. */
  boolean hasTakenContent() {
    return upload != null && upload.isStarted();
  }

  /** The origin takes more again. */
  void resume() {
    if (upload != null) {
      upload.resume();
    }
  }

  /** Sends no more content. */
  void stop(Failure why) {
    if (upload != null) {
      upload.stop(why);
    }
  }

  /** What is awaited until the head has come. */
  Awaited awaited(OriginSocket socket, boolean isHeadBegun) {
    if (socket.isPaused()) {
      return Awaited.CLIENT;
    }
    if (isHeadBegun) {
      return Awaited.HEAD;
    }
    if (awaitsContinue) {
      return Awaited.CONTINUE;
    }
    if (!isUploading()) {
      return Awaited.HEAD;
    }
    return socket.output().isWritable() ? Awaited.CLIENT : Awaited.UPLOAD;
  }

  /** What is awaited while the content of the response comes. */
  Awaited awaitedWithContent(OriginSocket socket) {
    return socket.isPaused() || (isUploading() && socket.output().isWritable())
        ? Awaited.CLIENT
        : Awaited.CONTENT;
  }
}
