package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.OperationTable;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Collects each request with its content, up to the limit of the operation it is for, on the heap.
 * Confined to its loop.
 */
final class RequestCollector extends ChannelInboundHandlerAdapter {

  private final OperationTable operations;
  private final Answers answers;
  private @Nullable HttpRequest head;
  private ByteBuf content = Unpooled.EMPTY_BUFFER;
  private int limitBytes;
  private boolean isRefused;

  RequestCollector(OperationTable operations, Answers answers) {
    this.operations = operations;
    this.answers = answers;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object part) {
    try {
      if (part instanceof HttpRequest request) {
        begin(context, request);
      }
      if (part instanceof HttpContent octets && !isRefused) {
        take(context, octets);
      }
    } finally {
      ReferenceCountUtil.release(part);
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) {
    head = request;
    content = Unpooled.buffer(0);
    limitBytes = limitBytes(request);
    if (request.decoderResult().isFailure()) {
      finish(context, request);
      isRefused = true;
    } else if (HttpUtil.getContentLength(request, 0L) > limitBytes) {
      refuse(context);
    } else if (HttpUtil.is100ContinueExpected(request)) {
      context.writeAndFlush(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
  }

  private int limitBytes(HttpRequest request) {
    String target = request.uri();
    int query = target.indexOf('?');
    Operation operation =
        operations.find(request.method().name(), query < 0 ? target : target.substring(0, query));
    return operation == null ? Operation.CONTENT_LIMIT_BYTES : operation.content().limitBytes();
  }

  private void take(ChannelHandlerContext context, HttpContent octets) {
    if (content.readableBytes() + octets.content().readableBytes() > limitBytes) {
      refuse(context);
      return;
    }
    content.writeBytes(octets.content());
    if (octets instanceof LastHttpContent && head != null) {
      finish(context, head);
    }
  }

  private void refuse(ChannelHandlerContext context) {
    isRefused = true;
    content = Unpooled.EMPTY_BUFFER;
    answers.writeLast(
        context,
        Answer.problem(
            StatusCode.CONTENT_TOO_LARGE, "At most " + limitBytes + " octets of content."));
  }

  private void finish(ChannelHandlerContext context, HttpRequest request) {
    FullHttpRequest whole =
        new DefaultFullHttpRequest(
            request.protocolVersion(),
            request.method(),
            request.uri(),
            content,
            request.headers(),
            EmptyHttpHeaders.INSTANCE);
    whole.setDecoderResult(request.decoderResult());
    head = null;
    context.fireChannelRead(whole);
  }
}
