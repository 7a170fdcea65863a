package io.kamille.cache;

import io.kamille.cache.AnswersOracle.Request;
import io.kamille.cache.serve.StoredReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.ResponseHead.Relay;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The station behind a cache that asks the owner in its process, as a node asks another one: what
 * is stale there is not kept here.
 */
final class OwnerStation implements ExchangeHandler {

  private static final String[] TOLD = {
    "cache-control", "if-none-match", "range", "accept-language", "cookie"
  };

  private final ExchangeHandler owner;
  private @Nullable Request asked;

  OwnerStation(ExchangeHandler owner) {
    this.owner = owner;
  }

  void begin() {
    asked = null;
  }

  /** What the owner was asked since {@link #begin}, or null. */
  @Nullable Request asked() {
    return asked;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request().copy();
    request.sender(Sender.PROXY);
    if (asked != null) {
      throw new AssertionError("asked twice");
    }
    Map<String, String> fields = new HashMap<>();
    for (String name : TOLD) {
      List<String> lines = request.fields().all(name);
      if (!lines.isEmpty()) {
        fields.put(name, String.join(", ", lines));
      }
    }
    asked = new Request(request.method().toString(), fields);
    owner.handle(exchange.behind(request, new OfOwner(exchange.reply())));
  }

  /** As if it had come by a connection. */
  private static final class OfOwner extends PassingReply {

    OfOwner(Reply reply) {
      super(reply);
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      boolean isStale = !head.fields().all(StoredReply.STALE).isEmpty();
      head.fields().remove(StoredReply.STALE);
      head.relay(new Relay("peer", !isStale));
      super.head(head, contentLength);
    }

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      String text = linesAndContent.toString(StandardCharsets.ISO_8859_1);
      int end = text.startsWith("\r\n") ? 0 : text.indexOf("\r\n\r\n") + 2;
      head(status, ownLines, ownLength, text.substring(0, end), contentLength);
      if (linesAndContent.skipBytes(end + 2).isReadable()) {
        write(linesAndContent);
      } else {
        linesAndContent.release();
      }
      end(null);
    }

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
      String text = lines.toString(StandardCharsets.ISO_8859_1);
      lines.release();
      head(status, ownLines, ownLength, text, contentLength);
    }

    private void head(int status, byte[] own, int ownLength, String lines, long contentLength) {
      List<String> words = new ArrayList<>();
      String all = new String(own, 0, ownLength, StandardCharsets.ISO_8859_1) + lines;
      all.lines()
          .filter(line -> !line.isEmpty())
          .forEach(line -> words.addAll(List.of(line.split(": ?", 2))));
      head(ResponseHead.of(status, words.toArray(String[]::new)), contentLength);
    }
  }
}
