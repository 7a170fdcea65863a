package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.ResponseParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to one request off the wire, and refuses what does not answer it. Used for one
 * response after the other. Confined to its loop.
 */
final class ResponseReader {

  /** Who is told what has come. After an end, a switch or trouble no more is read. */
  interface Owner {

    /** An interim response other than 100. */
    void interim(ResponseHead head);

    /** A 100: the origin wants the content that waits for it. */
    void continues();

    /**
     * The protocols were switched: the head without fields of the connection, except {@code
     * Upgrade}. What comes from now on is not ours to read.
     */
    void switched(ResponseHead head);

    /**
     * The final head, without fields of the connection.
     *
     * @param length octets of content, or -1
     * @param persists whether the connection can be used again after the response
     * @param whole begins with all content, or null; borrowed
     * @return whether the content was taken
     */
    boolean head(ResponseHead head, long length, boolean persists, @Nullable ByteBuf whole);

    /** Content, decoded. Takes ownership. */
    void content(ByteBuf chunk);

    /** The response has come to its proper end. */
    void complete(@Nullable Fields trailers);

    /** What came is no proper answer. */
    void refuse(Kind kind, String what);

    /** Whether content is still wanted. */
    boolean wantsContent();
  }

  private static final int MAX_INTERIM = 16;

  private final Owner owner;
  private final ResponseParser parser;
  private final ContentSink relay = new Relay();
  private @Nullable ContentDecoder decoder;
  private Method method = Method.GET;
  private boolean isConditional;
  private int interims;

  ResponseReader(Owner owner, HeadLimits limits) {
    this.owner = owner;
    this.parser = new ResponseParser(limits);
  }

  /** The response to this request is awaited. */
  void begin(RequestHead request) {
    method = request.method();
    isConditional = request.isConditional();
    interims = 0;
    decoder = null;
    parser.reset();
  }

  /** Whether some of a head has come. */
  boolean isHeadBegun() {
    return parser.isBegun();
  }

  /** Whether nothing at all has come. */
  boolean isSilent() {
    return !parser.isBegun() && interims == 0;
  }

  /** Whether content is on its way that only the end of the connection ends. */
  boolean endsWithConnection() {
    return decoder != null && decoder.endsWithConnection();
  }

  /** Reads some of a head, and content behind it. */
  void head(ByteBuf in) {
    switch (parser.parse(in)) {
      case NEED_MORE -> {}
      case MALFORMED -> malformed(parser.failure());
      case COMPLETE -> complete(parser.head(), in);
    }
  }

  private void complete(ResponseHead head, ByteBuf in) {
    if (ConnectionFields.isExcessive(head.fields())) {
      owner.refuse(Kind.HTTP_PROTOCOL_ERROR, "sent a Connection field that names too much");
    } else if (head.isInterim()) {
      interim(head);
    } else if (head.status() == StatusCode.SWITCHING_PROTOCOLS) {
      switched(head);
    } else if (head.status() == StatusCode.NOT_MODIFIED && !isConditional) {
      // The client holds nothing that it could be about (RFC 9110 §15.4.5). A 206 or 416 is let
      // through: some APIs page by them, unasked.
      owner.refuse(Kind.HTTP_PROTOCOL_ERROR, "sent a 304 nobody asked for");
    } else {
      begin(head, in);
    }
  }

  private void interim(ResponseHead head) {
    if (++interims > MAX_INTERIM) {
      owner.refuse(Kind.HTTP_PROTOCOL_ERROR, "sent more than 16 interim responses");
      return;
    }
    if (head.status() == StatusCode.CONTINUE) {
      owner.continues();
    } else {
      ConnectionFields.remove(head.fields());
      owner.interim(head);
    }
    parser.reset();
  }

  private void switched(ResponseHead head) {
    String protocol = head.fields().joined(FieldName.UPGRADE);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    if (protocol != null) {
      head.fields().add(FieldName.UPGRADE, protocol);
    }
    owner.switched(head);
  }

  private void begin(ResponseHead head, ByteBuf in) {
    long framing = MessageFraming.of(head, method);
    long length =
        head.status() == StatusCode.NO_CONTENT ? 0 : Math.max(MessageFraming.declared(head), -1);
    boolean isPersistent = framing != MessageFraming.UNTIL_CLOSE && isPersistent(head);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    boolean isWhole = framing >= 0 && framing <= in.readableBytes();
    boolean isTaken =
        owner.head(head, length, isPersistent, isWhole && framing == length ? in : null);
    if (!owner.wantsContent()) {
      return;
    }
    if (isWhole) {
      whole(in, isTaken ? 0 : (int) framing);
    } else {
      decoder = ContentDecoder.of(framing);
    }
  }

  private static boolean isPersistent(ResponseHead head) {
    Fields fields = head.fields();
    return head.minorVersion() == 1
        ? !ConnectionFields.names(fields, "close")
        : ConnectionFields.names(fields, "keep-alive");
  }

  /** All content came with the head, as it does for most small responses: nothing to decode. */
  private void whole(ByteBuf in, int length) {
    if (length > 0) {
      relay.write(in.readRetainedSlice(length));
    }
    relay.end(null);
  }

  /** Reads some of the content. */
  void content(ByteBuf in) {
    ContentDecoder present = decoder;
    if (present == null) {
      throw new IllegalStateException("content before its head");
    }
    if (present.decode(in, relay) == ContentDecoder.Outcome.MALFORMED && owner.wantsContent()) {
      malformed(present.failure());
    }
  }

  /** The connection has come to its end, and with it the content. */
  void end() {
    relay.end(null);
  }

  private void malformed(Failure why) {
    owner.refuse(why.kind(), "sent " + why.reason());
  }

  /** Passes content on, unless the client went away in the middle of a burst. */
  private final class Relay implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      if (owner.wantsContent()) {
        owner.content(chunk);
      } else {
        chunk.release();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (owner.wantsContent()) {
        owner.complete(trailers);
      }
    }

    @Override
    public void abort(Failure why) {
      throw new IllegalStateException("a decoder does not abort: " + why);
    }
  }
}
