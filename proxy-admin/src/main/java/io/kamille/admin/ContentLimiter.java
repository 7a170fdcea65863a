package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.core.http.StatusCode;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;

/** Collects a request with its content, up to a limit. Confined to its loop. */
final class ContentLimiter extends HttpObjectAggregator {

  static final int LIMIT_BYTES = 64 << 10;

  private final Answers answers;

  ContentLimiter(Answers answers) {
    super(LIMIT_BYTES);
    this.answers = answers;
  }

  @Override
  protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage request) {
    answers.writeLast(
        context,
        Answer.problem(
            StatusCode.CONTENT_TOO_LARGE, "At most " + LIMIT_BYTES + " octets of content."));
  }
}
