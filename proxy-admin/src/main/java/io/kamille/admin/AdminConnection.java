package io.kamille.admin;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.OperationTable;
import io.kamille.admin.auth.Peer;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Has each request of a connection answered, one after the other. Confined to its loop. */
final class AdminConnection extends ChannelInboundHandlerAdapter {

  /*
   * Operations run on the thread of their lane, because some wait for a disk: this loop and other
   * lanes then go on for everybody else.
   *
   * The heap is the data plane's, so a connection holds one request and one answer at the most. It
   * is not read from the end of a request until the client has taken the answer; the decoder keeps
   * what came in the same read, as octets. What comes behind the last answer is dropped. Content
   * longer than usual is taken only from somebody who is known.
   *
   * A connection is closed if the next request is not whole in time, if its operation takes longer,
   * or if the client does not take the answer: idle, sending drop by drop, or not reading. Each of
   * the three has the same time.
   */
  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final Pattern SCHEME = Pattern.compile("(?i)https?://");
  private static final long LINGER_MILLIS = 1000;

  /** Among equals, the one that opened or had its last answer taken the longest ago. */
  static final Comparator<AdminConnection> LEAST_TO_LOSE_FIRST =
      Comparator.<AdminConnection, State>comparing(connection -> connection.state)
          .thenComparing(connection -> connection.head != null)
          .thenComparingLong(AdminConnection::leftNanos);

  private final Channel channel;
  private final OperationTable operations;
  private final LiveStreams streams;
  private final Function<Operation.Lane, Executor> lanes;
  private final WallClock clock;
  private final Duration answerLimit;
  private final Peer peer;
  private final RequestDecoder decoder;

  private State state = State.READING;
  private @Nullable HttpRequest head;
  private ByteBuf content = Unpooled.EMPTY_BUFFER;
  private int limitBytes;
  private boolean isFinishing;
  private @Nullable ScheduledFuture<?> closing;

  /** What is read. In the order in which connections yield to others. */
  private enum State {
    /** The next request, or the rest of one. */
    READING,
    /** What is dropped: the last answer is given. */
    ENDING,
    /** Nothing, until the client has the answer. */
    ANSWERING,
    /** Nothing, until the operation is done. Does not yield. */
    WORKING,
    /** What is dropped: events are sent. Does not yield. */
    STREAMING
  }

  AdminConnection(
      Channel channel,
      OperationTable operations,
      LiveStreams streams,
      Function<Operation.Lane, Executor> lanes,
      WallClock clock,
      Duration answerLimit,
      Peer peer,
      RequestDecoder decoder) {
    this.channel = channel;
    this.operations = operations;
    this.streams = streams;
    this.lanes = lanes;
    this.clock = clock;
    this.answerLimit = answerLimit;
    this.peer = peer;
    this.decoder = decoder;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    restartDeadline(context);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    stopDeadline();
  }

  /** Closes the connection at once, unless there is work for its client. */
  boolean yields() {
    boolean isYielding = state.compareTo(State.WORKING) < 0;
    if (isYielding) {
      // Past TLS, whose last word would wait behind an answer that nobody takes.
      channel.unsafe().close(channel.unsafe().voidPromise());
    }
    return isYielding;
  }

  /** Closes the connection once its request is answered, or at once if none has begun. */
  void finish() {
    isFinishing = true;
    if (state == State.STREAMING || (state == State.READING && head == null)) {
      channel.close();
    }
  }

  // Requests

  @Override
  public void channelRead(ChannelHandlerContext context, Object part) {
    try {
      if (part instanceof HttpRequest request && state == State.READING) {
        begin(context, request);
      }
      if (part instanceof HttpContent octets && state == State.READING && head != null) {
        add(context, head, octets);
      }
    } finally {
      ReferenceCountUtil.release(part);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    readOn(context);
  }

  private void readOn(ChannelHandlerContext context) {
    while (state == State.READING && decoder.decodesOn()) {
      // What it decodes comes by channelRead.
    }
    context.channel().config().setAutoRead(state != State.ANSWERING && state != State.WORKING);
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) {
    head = request;
    content = Unpooled.buffer(0);
    HttpVersion version = request.protocolVersion();
    if (request.decoderResult().isFailure()) {
      writeLast(context, malformed(request.decoderResult().cause()));
    } else if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      writeLast(
          context, Answer.problem(StatusCode.VERSION_NOT_SUPPORTED, "HTTP/1.1 is spoken here."));
    } else if (version.equals(HttpVersion.HTTP_1_1)
        && !request.headers().contains(HttpHeaderNames.HOST)) {
      writeLast(context, Answer.problem(StatusCode.BAD_REQUEST, "There is no Host field."));
    } else {
      expectContent(context, request);
    }
  }

  private void expectContent(ChannelHandlerContext context, HttpRequest request) {
    AdminRequest asked = adminRequest(request, new byte[0]);
    Operation operation = operations.find(asked);
    limitBytes = operation == null ? Operation.CONTENT_LIMIT_BYTES : operation.contentLimitBytes();
    long length = HttpUtil.getContentLength(request, 0L);
    boolean mayBeLong =
        length > Operation.CONTENT_LIMIT_BYTES
            || (HttpUtil.isTransferEncodingChunked(request)
                && limitBytes > Operation.CONTENT_LIMIT_BYTES);
    if (length > limitBytes) {
      refuseContent(context);
    } else if (mayBeLong) {
      pause(context);
      laneOf(operation)
          .execute(
              () -> {
                Answer refusal = refusal(asked);
                context
                    .executor()
                    .execute(
                        () -> {
                          if (refusal == null) {
                            invite(context, request);
                            goOn(context);
                          } else {
                            writeLast(context, refusal);
                          }
                        });
              });
    } else {
      invite(context, request);
    }
  }

  private static void invite(ChannelHandlerContext context, HttpRequest request) {
    if (HttpUtil.is100ContinueExpected(request)) {
      context.writeAndFlush(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
  }

  private void add(ChannelHandlerContext context, HttpRequest request, HttpContent octets) {
    if (octets.decoderResult().isFailure()) {
      // What has come of a broken message is not carried out (RFC 9112 §7.1).
      writeLast(context, Answer.problem(StatusCode.BAD_REQUEST, "The content is malformed."));
      return;
    }
    if (content.readableBytes() + octets.content().readableBytes() > limitBytes) {
      refuseContent(context);
      return;
    }
    content.writeBytes(octets.content());
    if (octets instanceof LastHttpContent) {
      byte[] whole = new byte[content.readableBytes()];
      content.readBytes(whole);
      ask(context, request, adminRequest(request, whole));
    }
  }

  private void refuseContent(ChannelHandlerContext context) {
    writeLast(
        context,
        Answer.problem(
            StatusCode.CONTENT_TOO_LARGE, "At most " + limitBytes + " octets of content."));
  }

  private void ask(ChannelHandlerContext context, HttpRequest request, AdminRequest asked) {
    pause(context);
    restartDeadline(context);
    Operation operation = operations.find(asked);
    if (operation != null && operation.isImmediate()) {
      answer(context, request, asked, given(asked, () -> operations.answer(asked)));
      return;
    }
    laneOf(operation)
        .execute(
            () -> {
              Answer answer = given(asked, () -> operations.answer(asked));
              if (answer.later() == null) {
                onLoop(context, () -> answer(context, request, asked, answer));
              } else {
                Thread.startVirtualThread(
                    () -> {
                      Answer last = given(asked, answer::awaited);
                      onLoop(context, () -> answer(context, request, asked, last));
                    });
              }
            });
  }

  private static void onLoop(ChannelHandlerContext context, Runnable answer) {
    try {
      context.executor().execute(answer);
    } catch (RejectedExecutionException atItsEnd) {
      // The connection has ended with its loop.
    }
  }

  private Executor laneOf(@Nullable Operation operation) {
    return lanes.apply(Operation.laneOf(operation));
  }

  /** Why nothing long is taken from somebody; null if it is. */
  private @Nullable Answer refusal(AdminRequest asked) {
    try {
      return operations.isKnown(asked) ? null : operations.answer(asked);
    } catch (RuntimeException | Error bug) {
      return OperationTable.failed(asked, bug);
    }
  }

  /** A fault of ours is an answer, too: its client waits for one. */
  private static Answer given(AdminRequest asked, Supplier<Answer> answer) {
    try {
      return answer.get();
    } catch (RuntimeException | Error bug) {
      return OperationTable.failed(asked, bug);
    }
  }

  /** Reads nothing until {@link #goOn}. */
  private void pause(ChannelHandlerContext context) {
    state = State.WORKING;
    context.channel().config().setAutoRead(false);
  }

  private void goOn(ChannelHandlerContext context) {
    if (context.channel().isActive()) {
      state = State.READING;
      readOn(context);
    }
  }

  private AdminRequest adminRequest(HttpRequest request, byte[] whole) {
    HttpHeaders fields = request.headers();
    String target = request.uri();
    List<String> hosts = fields.getAll(HttpHeaderNames.HOST);
    Matcher scheme = SCHEME.matcher(target);
    if (scheme.lookingAt()) {
      int path = target.indexOf('/', scheme.end());
      int end = path < 0 ? target.length() : path;
      hosts = List.of(target.substring(scheme.end(), end));
      target = path < 0 ? "/" : target.substring(path);
    }
    int query = target.indexOf('?');
    return new AdminRequest(
        request.method().name(),
        query < 0 ? target : target.substring(0, query),
        query < 0 ? null : target.substring(query + 1),
        hosts,
        fields,
        whole,
        peer,
        Map.of(),
        null);
  }

  private static Answer malformed(Throwable cause) {
    return switch (cause) {
      case TooLongHttpLineException _ ->
          Answer.problem(StatusCode.URI_TOO_LONG, "The request line is too long.");
      case TooLongHttpHeaderException _ ->
          Answer.problem(StatusCode.FIELDS_TOO_LARGE, "The header section is too large.");
      default -> Answer.problem(StatusCode.BAD_REQUEST, "The request is malformed.");
    };
  }

  // Answers

  private void answer(
      ChannelHandlerContext context, HttpRequest request, AdminRequest asked, Answer answer) {
    restartDeadline(context);
    if (answer.contentType().equals(Answer.EVENT_STREAM) && !isHead()) {
      stream(context, asked, answer);
    } else if (HttpUtil.isKeepAlive(request) && !isFinishing) {
      FullHttpResponse response = response(answer);
      if (request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
      }
      state = State.ANSWERING;
      write(
          context,
          response,
          () -> {
            head = null;
            goOn(context);
            if (isFinishing && head == null) {
              context.close();
            }
          });
    } else {
      writeLast(context, answer);
    }
  }

  /** Nothing comes behind a stream on its connection. */
  private void stream(ChannelHandlerContext context, AdminRequest asked, Answer first) {
    if (streams.isFull()) {
      writeLast(
          context, Answer.problem(StatusCode.SERVICE_UNAVAILABLE, "Too many streams are open."));
      return;
    }
    end(context);
    state = State.STREAMING;
    stopDeadline();
    streams.open(context, first, () -> operations.isKnown(asked));
    context.pipeline().remove(HttpResponseEncoder.class);
  }

  /**
   * Writes an answer and closes: our side at once, the connection when the client has closed its
   * own or after a second, so that what it still sends does not destroy the answer (RFC 9112 §9.6).
   */
  private void writeLast(ChannelHandlerContext context, Answer answer) {
    FullHttpResponse response = response(answer);
    response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    end(context);
    write(
        context,
        response,
        () -> {
          ((DuplexChannel) context.channel()).shutdownOutput();
          context.executor().schedule(() -> context.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
        });
  }

  private void end(ChannelHandlerContext context) {
    state = State.ENDING;
    head = null;
    content = Unpooled.EMPTY_BUFFER;
    // Octets now come here as they are, to be dropped.
    context.pipeline().remove(decoder);
    context.channel().config().setAutoRead(true);
  }

  /** The task {@code taken} never runs within a read. */
  private void write(ChannelHandlerContext context, FullHttpResponse response, Runnable taken) {
    context
        .writeAndFlush(response)
        .addListener(
            written -> {
              if (written.isSuccess()) {
                restartDeadline(context);
                context.executor().execute(taken);
              } else {
                context.close();
              }
            });
  }

  private FullHttpResponse response(Answer answer) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            isHead() ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(answer.content()));
    HttpHeaders fields = response.headers();
    fields.set(HttpHeaderNames.DATE, HttpDate.format(clock.epochSeconds()));
    if (answer.status() != StatusCode.NO_CONTENT) {
      fields.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
      fields.set(HttpHeaderNames.CONTENT_LENGTH, answer.content().length);
    }
    fields.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    fields.set("X-Content-Type-Options", "nosniff");
    answer.fields().forEach(fields::set);
    return response;
  }

  private boolean isHead() {
    return head != null && head.method().equals(HttpMethod.HEAD);
  }

  // The end

  private void restartDeadline(ChannelHandlerContext context) {
    stopDeadline();
    closing =
        context
            .executor()
            .schedule(() -> context.close(), answerLimit.toMillis(), TimeUnit.MILLISECONDS);
  }

  private long leftNanos() {
    return closing == null ? 0 : closing.getDelay(TimeUnit.NANOSECONDS);
  }

  private void stopDeadline() {
    if (closing != null) {
      closing.cancel(false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    boolean isPeersDoing = cause instanceof IOException || cause instanceof CodecException;
    if (!isPeersDoing) {
      LOGGER.log(System.Logger.Level.ERROR, "a connection ends by a fault of ours", cause);
    }
    context.close();
  }
}
