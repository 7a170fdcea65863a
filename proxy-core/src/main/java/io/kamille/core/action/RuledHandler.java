package io.kamille.core.action;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.failure.Failure;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.route.NormalPath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Changes requests and responses between the stations before it and one behind it. Any thread. */
public final class RuledHandler implements ExchangeHandler {

  /*
   * It stands behind the cache, which so keys by what clients ask for, stores what the rules have
   * made of a response, and serves it without a look at them. The request that came is put back
   * with the head of the response, or when there will be none: stations before us may ask again
   * with it.
   */
  private final ExchangeHandler next;
  private final HeaderRules request;
  private final HeaderRules response;
  private final int prefixLength;
  private final byte @Nullable [] prefix;

  /**
   * Rules before {@code next}.
   *
   * @param path the prefix of the paths that come
   * @param rewrite what stands in its place behind us; null for the same
   */
  public RuledHandler(
      ExchangeHandler next,
      HeaderRules request,
      HeaderRules response,
      String path,
      @Nullable String rewrite) {
    this.next = next;
    this.request = request;
    this.response = response;
    this.prefixLength = withoutSlash(path).length();
    this.prefix =
        rewrite == null ? null : withoutSlash(rewrite).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String withoutSlash(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  /** The station behind this one. */
  public ExchangeHandler next() {
    return next;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead came = exchange.request();
    Reply reply = exchange.reply();
    if (!request.isEmpty() || prefix != null) {
      RequestHead changed = came.copy();
      request.apply(changed.fields());
      if (prefix != null) {
        changed.path(rewritten(came, prefix));
      }
      exchange.request(changed);
    }
    exchange.reply(new RuledReply(exchange, came, reply));
    next.handle(exchange);
  }

  /** What routes compare is what is cut: no dot segment leads out of the new prefix. */
  private byte[] rewritten(RequestHead came, byte[] prefix) {
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

  private final class RuledReply extends PassingReply {

    private final Exchange exchange;
    private final RequestHead came;
    private final Reply reply;

    RuledReply(Exchange exchange, RequestHead came, Reply reply) {
      super(reply);
      this.exchange = exchange;
      this.came = came;
      this.reply = reply;
    }

    @SuppressWarnings("ReferenceEquality") // another exchange of the connection may have begun
    private void putBack() {
      if (exchange.reply() == this) {
        exchange.request(came);
        exchange.reply(reply);
      }
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      putBack();
      if (head.status() == StatusCode.NOT_MODIFIED) {
        response.applyToUpdate(head.fields());
      } else {
        response.apply(head.fields());
      }
      super.head(head, contentLength);
    }

    @Override
    public void abort(Failure why) {
      putBack();
      super.abort(why);
    }

    @Override
    public void fail(Failure why) {
      putBack();
      super.fail(why);
    }

    @Override
    public void end(@Nullable Fields trailers) {
      putBack();
      super.end(trailers);
    }
  }
}
