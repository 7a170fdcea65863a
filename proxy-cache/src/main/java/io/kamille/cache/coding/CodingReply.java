package io.kamille.cache.coding;

import io.kamille.cache.rules.CompressionRules;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compresses a response on its way to the client. What comes from the store passes as it is.
 * Confined to its loop.
 */
public final class CodingReply extends PassingReply implements ContentSource {

  /*
   * Each chunk is flushed: a page whose origin sends it in parts arrives in parts. The encoder has
   * memory outside the heap, so it must be closed however the response ends. The coder counts them.
   */
  private static final int LEAST_OUTPUT_BYTES = 256;
  private static final int EXPECTED_RATIO = 3;

  private final RequestHead request;
  private final CompressionRules rules;
  private final Coder coder;
  private final Collected collected = new Collected();
  private ContentSource source = ContentSource.NONE;
  private @Nullable OutputStream encoder;
  private boolean isCoded;

  private CodingReply(Reply client, RequestHead request, CompressionRules rules, Coder coder) {
    super(client);
    this.request = request;
    this.rules = rules;
    this.coder = coder;
  }

  /** A reply to that request before the client's; the client's own where nothing is coded. */
  public static Reply of(Reply client, RequestHead request, CompressionRules rules, Coder coder) {
    return rules.isOn() ? new CodingReply(client, request, rules, coder) : client;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    if (head.status() == StatusCode.NOT_MODIFIED) {
      CompressionRules.weakenAsAsked(request.fields(), head.fields());
    } else if (rules.isCodableOnTheWay(head, contentLength)) {
      CompressionRules.addVary(head.fields());
      ContentCoding coding = rules.onTheWay(request.fields());
      if (coding != null && request.method() != Method.HEAD && begin(coding)) {
        CompressionRules.code(head.fields(), coding);
        super.head(head, UNKNOWN_LENGTH);
        return false;
      }
    }
    return passHead(head, contentLength, whole);
  }

  /** Some encoders give their first octets at once: they go with those of the first chunk. */
  private boolean begin(ContentCoding coding) {
    collected.begin(0);
    encoder = coder.begin(coding, collected);
    isCoded = encoder != null;
    if (!isCoded) {
      collected.drop();
    }
    return isCoded;
  }

  @Override
  public boolean takesRegions() {
    return !isCoded && super.takesRegions();
  }

  @Override
  public void write(ByteBuf chunk) {
    OutputStream out = encoder;
    if (!isCoded) {
      super.write(chunk);
      return;
    }
    int length = chunk.readableBytes();
    try {
      if (out != null && length > 0) {
        collected.begin(length / EXPECTED_RATIO);
        chunk.readBytes(out, length);
        out.flush();
      }
    } catch (IOException | RuntimeException bug) {
      broke(bug);
    } finally {
      chunk.release();
    }
    pass();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (isCoded) {
      if (trailers != null) {
        CompressionRules.removeOfTheOctets(trailers);
      }
      collected.begin(0);
      closeEncoder();
      pass();
    }
    super.end(trailers);
  }

  private void pass() {
    ByteBuf coded = collected.take();
    if (coded != null) {
      super.write(coded);
    }
  }

  private void broke(Exception bug) {
    Failure why = Failure.of(Kind.PROXY_INTERNAL_ERROR, "content was not compressed: " + bug);
    source.cancel(why);
    abort(why);
  }

  @Override
  public void abort(Failure why) {
    close();
    super.abort(why);
  }

  /** What the encoder still gives is dropped. */
  private void close() {
    closeEncoder();
    collected.drop();
  }

  private void closeEncoder() {
    OutputStream out = encoder;
    if (out != null) {
      encoder = null;
      coder.end();
      try {
        out.close();
      } catch (IOException cannotBe) {
        throw new IllegalStateException(cannotBe);
      }
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
    close();
    source.cancel(why);
  }

  /** Keeps what an encoder gives for one chunk. */
  private static final class Collected extends OutputStream {

    private @Nullable ByteBuf octets;

    void begin(int expectedBytes) {
      if (octets == null) {
        octets = ByteBufAllocator.DEFAULT.directBuffer(Math.max(LEAST_OUTPUT_BYTES, expectedBytes));
      }
    }

    void drop() {
      ByteBuf rest = take();
      if (rest != null) {
        rest.release();
      }
    }

    /** What came since then, the caller's to release; null if nothing did. */
    @Nullable ByteBuf take() {
      ByteBuf taken = octets;
      octets = null;
      if (taken != null && !taken.isReadable()) {
        taken.release();
        return null;
      }
      return taken;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (octets != null) {
        octets.writeBytes(bytes, offset, length);
      }
    }

    @Override
    public void write(int octet) {
      if (octets != null) {
        octets.writeByte(octet);
      }
    }
  }
}
