package io.kamille.launcher.fuzz;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Netty's decoders, which share no code with ours, make of the octets of a connection.
 *
 * @param messages the complete ones, up to the first that Netty does not understand
 * @param fault why it does not, or empty
 */
record SecondReading(List<Message> messages, String fault) {

  /**
   * One message.
   *
   * @param method of a request, else empty
   * @param target of a request as it came, else empty
   * @param host the first {@code Host} of a request, or null
   * @param status of a response, else 0
   * @param content without its chunks
   */
  record Message(String method, String target, @Nullable String host, int status, String content) {

    boolean isInterim() {
      return status >= 100 && status < 200 && status != 101;
    }
  }

  static SecondReading ofRequests(String octets) {
    return read(new HttpRequestDecoder(config()), octets, true);
  }

  /** Responses to GET on a connection that ends, or does not end yet, behind them. */
  static SecondReading ofResponses(String octets, boolean ends) {
    return read(new HttpResponseDecoder(config()), octets, ends);
  }

  /**
   * Whether Netty gave up for one of the reasons that need not be ours: see {@code
   * DifferenceFromNettyFuzzTest}.
   */
  boolean isStricter() {
    return fault.contains("InvalidChunkExtensionException")
        || fault.contains("IndexOutOfBoundsException: bitIndex < 0")
        || fault.contains("TransferEncodingNotAllowedException");
  }

  /** The first response that is not an interim one, or null. */
  @Nullable Message finalResponse() {
    return messages.stream().filter(message -> !message.isInterim()).findFirst().orElse(null);
  }

  private static HttpDecoderConfig config() {
    return new HttpDecoderConfig()
        .setMaxInitialLineLength(64 * 1024)
        .setMaxHeaderSize(64 * 1024)
        .setMaxChunkSize(Integer.MAX_VALUE);
  }

  private static SecondReading read(ChannelHandler decoder, String octets, boolean ends) {
    EmbeddedChannel channel = new EmbeddedChannel(decoder);
    channel.writeInbound(Unpooled.wrappedBuffer(octets.getBytes(StandardCharsets.ISO_8859_1)));
    List<Part> parts = new ArrayList<>();
    if (!ends) {
      drain(channel, parts);
    }
    channel.finish();
    if (ends) {
      drain(channel, parts);
    } else {
      drain(channel, new ArrayList<>());
    }
    return messages(parts);
  }

  private static void drain(EmbeddedChannel channel, List<Part> parts) {
    for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
      if (part instanceof HttpObject object) {
        parts.add(new Part(object));
      }
      ReferenceCountUtil.release(part);
    }
  }

  private static SecondReading messages(List<Part> parts) {
    List<Message> messages = new ArrayList<>();
    Part head = null;
    StringBuilder content = new StringBuilder();
    for (Part part : parts) {
      if (!part.fault.isEmpty()) {
        return new SecondReading(messages, part.fault);
      }
      if (part.isHead) {
        head = part;
      }
      content.append(part.content);
      if (part.isLast && head != null) {
        messages.add(
            new Message(head.method, head.target, head.host, head.status, content.toString()));
        content.setLength(0);
        head = null;
      }
    }
    return new SecondReading(messages, "");
  }

  /** What is kept of a part of a message, whose buffer is released at once. */
  private static final class Part {

    private final String fault;
    private final boolean isHead;
    private final boolean isLast;
    private final String content;
    private String method = "";
    private String target = "";
    private @Nullable String host;
    private int status;

    Part(HttpObject part) {
      fault = part.decoderResult().isFailure() ? part.decoderResult().cause().toString() : "";
      isHead = part instanceof HttpMessage;
      isLast = part instanceof LastHttpContent;
      content =
          part instanceof HttpContent octets
              ? octets.content().toString(StandardCharsets.ISO_8859_1)
              : "";
      if (part instanceof HttpRequest request) {
        method = request.method().name();
        target = request.uri();
        host = request.headers().get(HttpHeaderNames.HOST);
      } else if (part instanceof HttpResponse response) {
        status = response.status().code();
      }
    }
  }
}
