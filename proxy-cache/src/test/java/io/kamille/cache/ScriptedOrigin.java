package io.kamille.cache;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The station behind the cache: keeps the requests that reach it, for the test to answer. */
final class ScriptedOrigin implements ExchangeHandler {

  /** Octets of a buffer that belong to what comes next on the connection. */
  private static final String BEHIND = "HTTP/1.1 200 OK";

  private final List<Forwarded> requests = new CopyOnWriteArrayList<>();
  private volatile Consumer<Forwarded> answer = forwarded -> {};

  /** Answers every request from now on, as it comes. */
  void answering(Consumer<Forwarded> answer) {
    this.answer = answer;
  }

  List<Forwarded> requests() {
    return requests;
  }

  Forwarded last() {
    return requests.getLast();
  }

  @Override
  public void handle(Exchange exchange) {
    Forwarded forwarded = new Forwarded(exchange);
    requests.add(forwarded);
    exchange.reply().open(forwarded);
    answer.accept(forwarded);
  }

  /** One request that was forwarded. Confined to its loop. */
  static final class Forwarded implements ContentSource {

    private final Exchange exchange;
    private final RequestHead request;
    private final Reply reply;
    private @Nullable Failure cancelled;
    private boolean isPaused;

    Forwarded(Exchange exchange) {
      this.exchange = exchange;
      this.request = exchange.request().copy();
      this.reply = exchange.reply();
    }

    Exchange exchange() {
      return exchange;
    }

    RequestHead request() {
      return request;
    }

    @Nullable String field(FieldName name) {
      return request.field(name);
    }

    boolean isPaused() {
      return isPaused;
    }

    boolean isCancelled() {
      return cancelled != null;
    }

    /** A whole response with Content-Length, read from the origin at once; others are behind it. */
    Forwarded respond(int status, String content, String... fields) {
      ByteBuf read = ByteBufAllocator.DEFAULT.directBuffer();
      read.writeCharSequence(content + BEHIND, StandardCharsets.ISO_8859_1);
      try {
        boolean isTaken = head(status, content.length(), read, fields);
        if (read.readableBytes() != BEHIND.length() + (isTaken ? 0 : content.length())) {
          throw new AssertionError("taken: more or less than the content");
        }
        if (!isTaken && !content.isEmpty()) {
          write(content);
        }
      } finally {
        read.release();
      }
      return end();
    }

    Forwarded interim(int status, String... fields) {
      ResponseHead head = ResponseHead.of(status, fields);
      reply.interim(head);
      head.clear();
      return this;
    }

    Forwarded head(int status, long length, String... fields) {
      head(status, length, null, fields);
      return this;
    }

    private boolean head(int status, long length, @Nullable ByteBuf whole, String... fields) {
      ResponseHead head = ResponseHead.of(status, fields);
      if (length >= 0 && status != 304 && status != 204) {
        head.fields().add(FieldName.CONTENT_LENGTH, Long.toString(length));
      }
      boolean isTaken = reply.head(head, length, whole);
      // As its connection does for the next response.
      head.clear();
      return isTaken;
    }

    Forwarded write(String content) {
      return write(content.getBytes(StandardCharsets.ISO_8859_1));
    }

    Forwarded write(byte[] content) {
      if (cancelled == null) {
        reply.write(ByteBufAllocator.DEFAULT.directBuffer(content.length).writeBytes(content));
      }
      return this;
    }

    /** Takes ownership, as the reply does. */
    Forwarded write(ByteBuf chunk) {
      reply.write(chunk);
      return this;
    }

    Forwarded end() {
      if (cancelled == null) {
        reply.end(null);
      }
      return this;
    }

    /** Ends with trailer fields. */
    Forwarded endWith(String... trailers) {
      if (cancelled == null) {
        Fields borrowed = Fields.of(trailers);
        reply.end(borrowed);
        borrowed.clear();
      }
      return this;
    }

    void abort() {
      reply.abort(Failure.of(Failure.ErrorType.HTTP_RESPONSE_INCOMPLETE, "broke off"));
    }

    void fail(Failure.ErrorType kind) {
      reply.fail(Failure.of(kind, "no answer"));
    }

    @Override
    public void pause() {
      isPaused = true;
    }

    @Override
    public void resume() {
      isPaused = false;
    }

    @Override
    public void cancel(Failure why) {
      cancelled = why;
    }
  }
}
