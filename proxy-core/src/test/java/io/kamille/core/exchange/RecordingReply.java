package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Notes down what a handler says, and holds it to the order that {@link Reply} asks for. */
public final class RecordingReply implements Reply {

  private final CompletableFuture<RecordingReply> ended = new CompletableFuture<>();
  private final CompletableFuture<RecordingReply> begun = new CompletableFuture<>();
  private final List<ResponseHead> interims = new ArrayList<>();
  private final StringBuilder content = new StringBuilder();
  private @Nullable ContentSource source;
  private @Nullable ResponseHead head;
  private @Nullable String trailers;
  private @Nullable Failure failure;
  private boolean keepsContent = true;
  private boolean pausesAtOnce;
  private boolean isFaulty;
  private long cancelsAt = Long.MAX_VALUE;
  private long contentLength;
  private long received;

  /** Counts content octets and forgets them. */
  public RecordingReply onlyCounting() {
    keepsContent = false;
    return this;
  }

  /** Pauses its source as soon as the response begins, as a very slow client would. */
  public RecordingReply pausedAtOnce() {
    pausesAtOnce = true;
    return this;
  }

  /** Gives the response up while so many octets are written, as a full sink may. */
  public RecordingReply cancellingAt(long octets) {
    cancelsAt = octets;
    return this;
  }

  /** Throws when the response begins, as a bug would. */
  public RecordingReply faulty() {
    isFaulty = true;
    return this;
  }

  /** Completes with this reply once it has come to its end. */
  public CompletableFuture<RecordingReply> ended() {
    return ended;
  }

  /** Completes with this reply once it has a final head. */
  public CompletableFuture<RecordingReply> begun() {
    return begun;
  }

  public ContentSource source() {
    return present(source);
  }

  public ResponseHead head() {
    return present(head);
  }

  public List<ResponseHead> interims() {
    return interims;
  }

  public String content() {
    return content.toString();
  }

  /** Octets of content so far. */
  public long received() {
    return received;
  }

  public long contentLength() {
    return contentLength;
  }

  public @Nullable String trailers() {
    return trailers;
  }

  public boolean hasFailed() {
    return failure != null;
  }

  /** Why the reply failed or was aborted. */
  public Failure failure() {
    return present(failure);
  }

  @Override
  public void open(ContentSource source) {
    require(this.source == null, "a second open");
    this.source = source;
  }

  @Override
  public void interim(ResponseHead head) {
    require(!isBegun() && !isEnded(), "an interim response too late");
    interims.add(head.copy());
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    require(!isBegun() && !isEnded(), "a second head");
    this.head = head.copy();
    this.contentLength = contentLength;
    if (pausesAtOnce) {
      source().pause();
    }
    begun.complete(this);
    if (isFaulty) {
      throw new IllegalStateException("a bug, for the test");
    }
  }

  @Override
  public void write(ByteBuf chunk) {
    require(isBegun() && !isEnded(), "content out of order");
    received += chunk.readableBytes();
    if (keepsContent) {
      content.append(chunk.toString(StandardCharsets.ISO_8859_1));
    }
    chunk.release();
    if (received >= cancelsAt) {
      source().cancel(Failure.of(Failure.ErrorType.CLIENT_GONE, "enough"));
      ended.complete(this);
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    require(isBegun() && !isEnded(), "an end out of order");
    this.trailers = trailers == null ? null : trailers.toString();
    ended.complete(this);
  }

  @Override
  public void abort(Failure why) {
    require(isBegun() && !isEnded(), "an abort out of order");
    failure = why;
    ended.complete(this);
  }

  @Override
  public void fail(Failure why) {
    require(!isEnded(), "a failure after the end");
    failure = why;
    ended.complete(this);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isBegun() {
    return head != null;
  }

  @Override
  public boolean isEnded() {
    return ended.isDone();
  }

  private void require(boolean inOrder, String what) {
    if (!inOrder) {
      AssertionError error = new AssertionError(what);
      ended.completeExceptionally(error);
      throw error;
    }
  }

  private static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new AssertionError("nothing there yet");
    }
    return value;
  }
}
