package io.kamille.admin;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.ResourceTable;
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
import java.util.List;
import java.util.Locale;

/** Asks the resources for an answer to each request of a connection. Confined to its loop. */
final class AdminHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final String SCHEME = "http://";

  private final ResourceTable resources;
  private final Answers answers;
  private boolean isLastAnswered;

  AdminHandler(ResourceTable resources, Answers answers) {
    this.resources = resources;
    this.answers = answers;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    if (isLastAnswered) {
      return;
    }
    HttpVersion version = request.protocolVersion();
    if (request.decoderResult().isFailure()) {
      writeLast(context, malformed(request.decoderResult().cause()));
    } else if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      writeLast(
          context, Answer.problem(StatusCode.VERSION_NOT_SUPPORTED, "HTTP/1.1 is spoken here."));
    } else if (version.equals(HttpVersion.HTTP_1_1)
        && !request.headers().contains(HttpHeaderNames.HOST)) {
      writeLast(context, Answer.problem(StatusCode.BAD_REQUEST, "There is no Host field."));
    } else if (HttpUtil.isKeepAlive(request)) {
      answers.write(context, answer(request), version);
    } else {
      writeLast(context, answer(request));
    }
  }

  private void writeLast(ChannelHandlerContext context, Answer answer) {
    isLastAnswered = true;
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

  private Answer answer(FullHttpRequest request) {
    try {
      return resources.answer(adminRequest(request));
    } catch (RuntimeException bug) {
      LOGGER.log(System.Logger.Level.ERROR, request.method() + " " + request.uri(), bug);
      return Answer.problem(StatusCode.INTERNAL_SERVER_ERROR, "The log says why.");
    }
  }

  private static AdminRequest adminRequest(FullHttpRequest request) {
    HttpHeaders fields = request.headers();
    String target = request.uri();
    List<String> hosts = fields.getAll(HttpHeaderNames.HOST);
    if (target.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
      int path = target.indexOf('/', SCHEME.length());
      int end = path < 0 ? target.length() : path;
      hosts = List.of(target.substring(SCHEME.length(), end));
      target = path < 0 ? "/" : target.substring(path);
    }
    int query = target.indexOf('?');
    return new AdminRequest(
        request.method().name(),
        query < 0 ? target : target.substring(0, query),
        query < 0 ? null : target.substring(query + 1),
        hosts,
        fields.get(HttpHeaderNames.AUTHORIZATION),
        fields.get(HttpHeaderNames.CONTENT_TYPE),
        request.content().nioBuffer());
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
