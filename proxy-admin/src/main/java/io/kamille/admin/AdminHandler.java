package io.kamille.admin;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.OperationTable;
import io.kamille.core.http.StatusCode;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Has each request of a connection answered, one after the other. Confined to its loop. */
final class AdminHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

  /*
   * Operations run on the control thread, because some wait for a disk: this loop then goes on for
   * everybody else. A connection is not read while one of its requests is with that thread, so what
   * waits here came in the same read as that request.
   */
  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final Pattern SCHEME = Pattern.compile("(?i)https?://");

  private final OperationTable operations;
  private final Answers answers;
  private final LiveStreams streams;
  private final Executor control;
  private final ArrayDeque<FullHttpRequest> waiting = new ArrayDeque<>();
  private boolean isAsking;
  private boolean isLastAnswered;

  AdminHandler(OperationTable operations, Answers answers, LiveStreams streams, Executor control) {
    this.operations = operations;
    this.answers = answers;
    this.streams = streams;
    this.control = control;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    // On the heap, so that nobody has to release it.
    waiting.add(request.retain());
    next(context);
  }

  private void next(ChannelHandlerContext context) {
    while (!isAsking && !isLastAnswered && !waiting.isEmpty()) {
      take(context, waiting.remove());
    }
    context.channel().config().setAutoRead(!isAsking);
  }

  private void take(ChannelHandlerContext context, FullHttpRequest request) {
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
      ask(context, adminRequest(context, request), request);
    }
  }

  private void ask(ChannelHandlerContext context, AdminRequest asked, FullHttpRequest request) {
    Operation operation = operations.find(asked.method(), asked.path());
    if (operation != null && operation.result().isImmediate()) {
      write(context, request, asked, operations.answer(asked));
      return;
    }
    isAsking = true;
    control.execute(
        () -> {
          Answer answer = operations.answer(asked);
          context
              .executor()
              .execute(
                  () -> {
                    isAsking = false;
                    write(context, request, asked, answer);
                    next(context);
                  });
        });
  }

  private void write(
      ChannelHandlerContext context, FullHttpRequest request, AdminRequest asked, Answer answer) {
    if (answer.contentType().equals(Answer.EVENT_STREAM)) {
      stream(context, asked, answer);
    } else if (HttpUtil.isKeepAlive(request)) {
      answers.write(context, answer, request.protocolVersion());
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
    isLastAnswered = true;
    waiting.clear();
    streams.open(context, first, () -> operations.isKnown(asked));
  }

  private void writeLast(ChannelHandlerContext context, Answer answer) {
    isLastAnswered = true;
    waiting.clear();
    answers.writeLast(context, answer);
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

  private static AdminRequest adminRequest(ChannelHandlerContext context, FullHttpRequest request) {
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
    byte[] content = new byte[request.content().readableBytes()];
    request.content().readBytes(content);
    return new AdminRequest(
        request.method().name(),
        query < 0 ? target : target.substring(0, query),
        query < 0 ? null : target.substring(query + 1),
        hosts,
        fields,
        content,
        context.channel().remoteAddress() instanceof InetSocketAddress peer
            ? peer.getAddress()
            : null,
        Map.of(),
        null);
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
