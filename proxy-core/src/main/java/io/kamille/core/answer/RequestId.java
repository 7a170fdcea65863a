package io.kamille.core.answer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Gives each request a name, and shows it to the origin by {@code X-Request-Id} and to the client
 * by the same field of the response, also of one from the cache and of a refusal. A client's own
 * name is replaced: it could be that of another request. Any thread.
 */
public final class RequestId implements ExchangeHandler {

  public static final String NAME = "X-Request-Id";

  private final ExchangeHandler next;

  public RequestId(ExchangeHandler next) {
    this.next = next;
  }

  @Override
  public void handle(Exchange exchange) {
    HexFormat hex = HexFormat.of();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    String id = hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
    exchange.notes().requestId(id);
    RequestHead named = exchange.request().copy();
    named.fields().remove(NAME);
    named.fields().add(NAME, id);
    next.handle(exchange.behind(named, new NamedReply(exchange.reply(), id)));
  }

  /** Those rules for responses that are stored, which must not keep the name of one request. */
  public static HeaderRules ofStored(HeaderRules rules) {
    List<String> remove = new ArrayList<>(rules.remove());
    remove.add(NAME);
    return new HeaderRules(remove, rules.set(), rules.add());
  }

  private static final class NamedReply extends PassingReply {

    private final String id;

    NamedReply(Reply reply, String id) {
      super(reply);
      this.id = id;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      head.fields().remove(NAME);
      head.fields().add(NAME, id);
      super.head(head, contentLength);
    }

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      byte[] lines = withId(ownLines, ownLength);
      super.stored(status, lines, lines.length, linesAndContent, contentLength);
    }

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
      byte[] own = withId(ownLines, ownLength);
      super.storedHead(status, own, own.length, lines, contentLength);
    }

    private byte[] withId(byte[] lines, int length) {
      byte[] line = (NAME + ": " + id + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
      byte[] both = new byte[length + line.length];
      System.arraycopy(lines, 0, both, 0, length);
      System.arraycopy(line, 0, both, length, line.length);
      return both;
    }
  }
}
