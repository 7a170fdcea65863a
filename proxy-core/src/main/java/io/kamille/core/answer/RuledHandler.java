package io.kamille.core.answer;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Changes requests and responses between the stations before it and one behind it. Any thread. */
public final class RuledHandler implements ExchangeHandler {

  /*
   * It stands behind the cache, which so keys by what clients ask for, stores what the rules have
   * made of a response, and serves it without a look at them.
   */
  /** Fields about the content that a page replaces. */
  private static final String[] OF_CONTENT = {
    "Accept-Ranges",
    "Content-Digest",
    "Content-Disposition",
    "Content-Encoding",
    "Content-Language",
    "Content-Location",
    "Content-MD5",
    "Content-Range",
    "Content-Type",
    "Digest",
    "ETag",
    "Last-Modified",
    "Repr-Digest",
    "Trailer"
  };

  /** What is dropped rather than paid for with a connection. */
  private static final long DROPPED_BYTES_LIMIT = 64 << 10;

  private static final Failure CLIMBING =
      Failure.request(StatusCode.BAD_REQUEST, "dots between encoded slashes or backslashes");

  private static final Failure REPLACED =
      Failure.of(Failure.ErrorType.CLIENT_GONE, "the client has a page in its place");

  private final ExchangeHandler next;
  private final HeaderRules request;
  private final HeaderRules response;
  private final boolean addsSecurity;
  private final int prefixLength;
  private final byte @Nullable [] prefix;
  private final ErrorPages pages;

  /**
   * Rules before {@code next}.
   *
   * @param addsSecurity whether responses get {@link SecurityFields}
   * @param path the prefix of the paths that come
   * @param rewrite what stands in its place behind us; null for the same
   * @param pages those that intercept take the place of responses
   */
  public RuledHandler(
      ExchangeHandler next,
      HeaderRules request,
      HeaderRules response,
      boolean addsSecurity,
      String path,
      @Nullable String rewrite,
      ErrorPages pages) {
    this.next = next;
    this.request = request;
    this.response = response;
    this.addsSecurity = addsSecurity;
    this.prefixLength = withoutSlash(path).length();
    this.prefix =
        rewrite == null ? null : withoutSlash(rewrite).getBytes(StandardCharsets.ISO_8859_1);
    this.pages = pages;
  }

  private static String withoutSlash(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead came = exchange.request();
    Reply reply = exchange.reply();
    RequestHead passed = passed(came);
    if (passed == null) {
      reply.fail(CLIMBING);
      return;
    }
    next.handle(exchange.behind(passed, new RuledReply(came, reply)));
  }

  /** What is behind it of a request: itself, or a copy; null if it is refused. Any thread. */
  public @Nullable RequestHead passed(RequestHead came) {
    byte[] path = prefix == null ? null : rewritten(came, prefix);
    if (path != null && NormalPath.mayClimb(path, 0, path.length, false)) {
      return null;
    }
    if (request.isEmpty() && path == null) {
      return came;
    }
    RequestHead passed = came.copy();
    passed.fields().beginOwn();
    request.apply(passed.fields());
    if (path != null) {
      passed.path(path);
    }
    return passed;
  }

  /**
   * Makes of a response what is before it. Any thread.
   *
   * @param came the request
   */
  public void change(RequestHead came, ResponseHead head) {
    ErrorPages.Page page = page(came, head);
    if (page != null) {
      for (String name : OF_CONTENT) {
        head.fields().remove(name);
      }
      head.fields().add(FieldName.CONTENT_TYPE, page.type());
    }
    if (head.status() == StatusCode.NOT_MODIFIED) {
      response.applyToUpdate(head.fields());
    } else {
      response.apply(head.fields());
      if (addsSecurity) {
        SecurityFields.addTo(head.fields(), came.isSecure());
      }
    }
  }

  /** What takes the place of the content of a response; null for nothing. */
  private ErrorPages.@Nullable Page page(RequestHead came, ResponseHead head) {
    return ErrorPages.suit(came) ? pages.intercepting(head.status()) : null;
  }

  /** What routes compare is what is cut: no plain dot segment leads out of the new prefix. */
  private byte[] rewritten(RequestHead came, byte[] prefix) {
    if (isNoPath(came)) {
      return Arrays.copyOfRange(came.octets(), came.pathStart(), came.pathEnd());
    }
    byte[] path = NormalPath.of(came.octets(), came.pathStart(), came.pathEnd());
    int from = Math.min(prefixLength, path.length);
    byte[] rest =
        NormalPath.mayDiffer(came.octets(), came.pathStart(), came.pathEnd())
            ? NormalPath.encoded(path, from)
            : Arrays.copyOfRange(path, from, path.length);
    boolean needsSlash = prefix.length + rest.length == 0;
    byte[] rewritten = Arrays.copyOf(prefix, prefix.length + rest.length + (needsSlash ? 1 : 0));
    System.arraycopy(rest, 0, rewritten, prefix.length, rest.length);
    if (needsSlash) {
      rewritten[0] = '/';
    }
    return rewritten;
  }

  /** Whether the target is the asterisk of an OPTIONS about the whole server, or an authority. */
  private static boolean isNoPath(RequestHead came) {
    return came.pathStart() < came.pathEnd() && came.octets()[came.pathStart()] != '/';
  }

  /*
   * A page ends the reply: no client waits for the end of what it replaces. The rest of that is
   * dropped if it is short, because a connection costs more, and else cancelled. Meanwhile the
   * exchange may serve another request, so nothing of the origin's reaches what is before us.
   */
  private final class RuledReply extends PassingReply implements ContentSource {

    private final RequestHead came;
    private ContentSource source = ContentSource.NONE;
    private boolean isReplaced;
    private boolean isCancelled;
    private long droppedBytes;

    RuledReply(RequestHead came, Reply reply) {
      super(reply);
      this.came = came;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      ErrorPages.Page page = page(came, head);
      if (page == null) {
        begin(head, contentLength);
        return;
      }
      replace(head, page);
      drop(came.method() == Method.HEAD ? 0 : Math.max(contentLength, 0));
    }

    private void replace(ResponseHead head, ErrorPages.Page page) {
      isReplaced = true;
      source.resume();
      begin(head, page.content().length);
      if (!isCancelled && came.method() != Method.HEAD) {
        super.write(Unpooled.wrappedBuffer(page.content()));
      }
      if (!isCancelled) {
        super.end(null);
      }
    }

    private void drop(long bytes) {
      droppedBytes += bytes;
      if (droppedBytes > DROPPED_BYTES_LIMIT) {
        source.cancel(REPLACED);
      }
    }

    private void begin(ResponseHead head, long contentLength) {
      change(came, head);
      super.head(head, contentLength);
    }

    @Override
    public void open(ContentSource source) {
      this.source = source;
      super.open(this);
    }

    @Override
    public void write(ByteBuf chunk) {
      if (isReplaced) {
        int bytes = chunk.readableBytes();
        chunk.release();
        drop(bytes);
      } else {
        super.write(chunk);
      }
    }

    @Override
    public void write(FileRegion region) {
      if (isReplaced) {
        long bytes = region.count();
        region.release();
        drop(bytes);
      } else {
        super.write(region);
      }
    }

    @Override
    public void abort(Failure why) {
      if (!isReplaced) {
        super.abort(why);
      }
    }

    @Override
    public void fail(Failure why) {
      if (!isReplaced) {
        super.fail(why);
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (!isReplaced) {
        super.end(trailers);
      }
    }

    @Override
    public boolean isBegun() {
      return isReplaced || super.isBegun();
    }

    @Override
    public boolean isEnded() {
      return isReplaced || super.isEnded();
    }

    // From the client

    @Override
    public void pause() {
      if (!isReplaced) {
        source.pause();
      }
    }

    @Override
    public void resume() {
      if (!isReplaced) {
        source.resume();
      }
    }

    @Override
    public void cancel(Failure why) {
      isCancelled = true;
      if (!isReplaced) {
        source.cancel(why);
      }
    }
  }
}
