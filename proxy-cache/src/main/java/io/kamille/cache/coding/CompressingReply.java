package io.kamille.cache.coding;

import io.kamille.cache.rules.CompressionRules;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compresses a response on its way to the client. What comes from the store passes as it is.
 * Confined to its loop.
 */
public final class CompressingReply extends PassingReply implements ContentSource {

  /*
   * Each chunk is flushed: a page whose origin sends it in parts arrives in parts. The encoder has
   * memory outside the heap, so it must be closed however the response ends. The coder counts them.
   */
  private static final int USUAL_BYTES = 4096;

  private final RequestHead request;
  private final boolean getsCookie;
  private final CompressionRules rules;
  private final Coder coder;
  private ContentSource source = ContentSource.NONE;
  private @Nullable OutputStream encoder;
  private ByteBuf coded = Unpooled.EMPTY_BUFFER;
  private boolean isCoded;

  private CompressingReply(Exchange exchange, CompressionRules rules, Coder coder) {
    super(exchange.reply());
    this.request = exchange.request();
    this.getsCookie = !exchange.notes().cookies().isEmpty();
    this.rules = rules;
    this.coder = coder;
  }

  /** A reply before the client's; the client's own where nothing is coded. */
  public static Reply of(Exchange exchange, CompressionRules rules, Coder coder) {
    return rules.isOn() ? new CompressingReply(exchange, rules, coder) : exchange.reply();
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    ContentCoding coding = rules.choose(request, head, contentLength, getsCookie);
    if (coding != null && (request.method() == Method.HEAD || begin(coding))) {
      CompressionRules.code(head.fields(), coding);
      super.head(head, UNKNOWN_LENGTH);
      return false;
    }
    return passHead(head, contentLength, whole);
  }

  private boolean begin(ContentCoding coding) {
    ByteBuf octets = ByteBufAllocator.DEFAULT.directBuffer(USUAL_BYTES);
    try {
      encoder = coder.begin(coding, new ByteBufOutputStream(octets));
      isCoded = encoder != null;
    } finally {
      if (isCoded) {
        coded = octets;
      } else {
        octets.release();
      }
    }
    return isCoded;
  }

  @Override
  public boolean takesRegions() {
    return !isCoded && super.takesRegions();
  }

  @Override
  public void write(ByteBuf chunk) {
    if (!isCoded) {
      super.write(chunk);
      return;
    }
    OutputStream out = encoder;
    try {
      if (out != null && chunk.isReadable()) {
        chunk.readBytes(out, chunk.readableBytes());
        out.flush();
      }
    } catch (IOException | RuntimeException bug) {
      Failure why =
          Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "content was not compressed: " + bug);
      source.cancel(why);
      abort(why);
    } finally {
      chunk.release();
    }
    pass();
  }

  /** Gives the client what the encoder has given. */
  private void pass() {
    if (encoder != null && coded.isReadable()) {
      ByteBuf octets = coded.readBytes(coded.readableBytes());
      coded.clear();
      super.write(octets);
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (isCoded && trailers != null) {
      CompressionRules.removeOfTheOctets(trailers);
    }
    close(true);
    super.end(trailers);
  }

  @Override
  public void abort(Failure why) {
    close(false);
    super.abort(why);
  }

  /** What the encoder still gives completes the content, or is dropped. Idempotent. */
  private void close(boolean isComplete) {
    OutputStream out = encoder;
    if (out == null) {
      return;
    }
    encoder = null;
    coder.end();
    try {
      out.close();
      if (isComplete && coded.isReadable()) {
        super.write(coded.retain());
      }
    } catch (IOException cannotBe) {
      throw new IllegalStateException(cannotBe);
    } finally {
      coded.release();
    }
  }

  // The client's side

  @Override
  public void open(ContentSource source) {
    this.source = source;
    super.open(this);
  }

  @Override
  public void pause() {
    source.pause();
  }

  @Override
  public void resume() {
    source.resume();
  }

  @Override
  public void cancel(Failure why) {
    close(false);
    source.cancel(why);
  }
}
