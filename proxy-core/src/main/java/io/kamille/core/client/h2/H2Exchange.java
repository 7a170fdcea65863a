package io.kamille.core.client.h2;

import io.kamille.core.client.ClientExchange;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.ClientTally;
import io.kamille.core.h2.H2Connection;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The request of one stream and its answer (RFC 9113 §8.1). Confined to its loop. */
final class H2Exchange extends ClientExchange {

  /*
   * The exchange of a stream that the client resets ends when its source is told. If there is none
   * yet, somebody may still be about to answer: until then the stream keeps its place.
   */
  /** The client whose requests come by streams, and its connection. Confined to its loop. */
  interface Connection {

    InetSocketAddress client();

    /** The address of ours that the client connected to. */
    InetSocketAddress local();

    /** What the client has open. */
    ClientTally tally();

    H2Shard shard();

    H2Connection h2();

    StreamHeads heads();

    /** Whether the request belongs on a connection under another certificate (RFC 9113 §9.1.2). */
    boolean isMisdirected(RequestHead request);

    /** Sends what became ready outside a burst of reads. */
    void sendReady();
  }

  private final H2Stream stream;
  private final Connection client;
  private final @Nullable H2Content content;
  private long sentBytes;
  private boolean awaitsContinue;
  private boolean isSwitched;
  private boolean isHandedOn;
  private boolean lingers;

  H2Exchange(H2Stream stream, Connection client, RequestHead request, @Nullable H2Content content) {
    super(client.shard().server(), request);
    this.stream = stream;
    this.client = client;
    this.content = content;
    reset();
    complete(content); // it may come, and have to be dropped, before the request is handed on
  }

  // From the stream

  /** Hands the request on, unless it is refused. */
  void begin(@Nullable Failure refusal) {
    complete(content);
    isHandedOn = true;
    RequestContent given = content == null ? RequestContent.NONE : content;
    handOn(
        new Exchange(shared.loop(), client.client(), client.local(), request(), given, this),
        client.shard().handler(),
        refusal);
  }

  /** The client sends its content only once it is asked to (RFC 9110 §10.1.1). */
  void awaitsContinue() {
    awaitsContinue = true;
  }

  /** Content has come: nobody has to ask for it. */
  void contentComes() {
    awaitsContinue = false;
  }

  /** Asks the client for its content, if it waits to be asked. */
  void sendContinue() {
    if (awaitsContinue) {
      interim(ResponseHead.of(StatusCode.CONTINUE));
    }
  }

  // To the stream

  @Override
  protected boolean isClientSlow() {
    return stream.isBehind();
  }

  @Override
  public void interim(ResponseHead head) {
    boolean isContinue = head.status() == StatusCode.CONTINUE;
    if (!isBegun() && (awaitsContinue || !isContinue)) {
      awaitsContinue = awaitsContinue && !isContinue;
      stream.sendInterim(client.heads().interim(head));
    }
  }

  @Override
  protected @Nullable Failure misfit(@Nullable ResponseHead head) {
    boolean isTunnel = content != null && content.isTunnel();
    if (head == null) {
      return isTunnel ? ExtendedConnect.NO_SWITCH : null;
    }
    return ExtendedConnect.misfit(request(), head, isTunnel);
  }

  @Override
  protected boolean sendHead(
      ResponseHead head, long contentLength, boolean isLast, @Nullable ByteBuf whole) {
    ResponseHead sent = head;
    if (head.status() == StatusCode.SWITCHING_PROTOCOLS) {
      isSwitched = true;
      sent = ExtendedConnect.accepted(head);
      begin(sent.status(), UNKNOWN_LENGTH);
    }
    if (isLast && content != null) {
      GrpcStatus.note(request(), sent.fields(), notes());
    }
    stream.sendHead(client.heads().head(sent, contentLength), isLast);
    return false;
  }

  @Override
  protected void send(ByteBuf chunk) {
    stream.send(chunk);
    client.sendReady();
  }

  @Override
  protected void sendEnd(@Nullable Fields trailers) {
    answered();
    if (trailers != null) {
      GrpcStatus.note(request(), trailers, notes());
    }
    stream.sendEnd(trailers);
    client.sendReady();
  }

  @Override
  protected void sendStored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    int linesLength = (int) (linesAndContent.readableBytes() - contentLength);
    HpackWriter out =
        client.heads().stored(status, ownLines, ownLength, linesAndContent, linesLength);
    answered();
    if (linesAndContent.isReadable()) {
      stream.sendHead(out, false);
      stream.send(linesAndContent);
      stream.sendEnd(null);
      client.sendReady();
    } else {
      linesAndContent.release();
      stream.sendHead(out, true);
    }
  }

  @Override
  protected void sendStoredHead(int status, byte[] ownLines, int ownLength, ByteBuf lines) {
    int length = lines.readableBytes();
    stream.sendHead(client.heads().stored(status, ownLines, ownLength, lines, length), false);
    lines.release();
  }

  @Override
  protected void sendShed() {
    head(client.heads().shed(), 0);
    end(null);
  }

  /** END_STREAM is never set (RFC 9113 §8.1). */
  @Override
  protected void breakOffAnswer() {
    answered();
    stream.reset(isSwitched ? Http2Error.CANCEL : Http2Error.INTERNAL_ERROR);
  }

  @Override
  protected void cameTooLate() {
    if (lingers) {
      lingers = false;
      client.h2().lingersNoMore();
    }
  }

  // What becomes of it

  /** Whether the stream is a tunnel by now. */
  boolean isSwitched() {
    return isSwitched;
  }

  void sent(int bytes) {
    sentBytes += bytes;
  }

  @Override
  protected long sentBytes() {
    return sentBytes;
  }

  /** The last octet was handed to the socket. */
  void sentEnd() {
    finish();
  }

  /** The content is not what the request says of it. */
  void contentIsMalformed(Failure why) {
    note(why);
  }

  /** The stream is over before its time. */
  void broken(Failure why) {
    if (isHandedOn && !isBegun() && !hasSource()) {
      lingers = true;
      client.h2().lingers();
    }
    clientGone(why);
  }
}
