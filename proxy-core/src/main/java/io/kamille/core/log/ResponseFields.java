package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The station that notes the fields of responses, where the access log has such. It sees what the
 * stations give, not what a connection adds. Any thread; what it notes belongs to the exchange.
 */
record ResponseFields(ExchangeHandler next) implements ExchangeHandler {

  @Override
  public void handle(Exchange exchange) {
    next.handle(exchange.behind(new NotingReply(exchange.reply(), exchange.notes())));
  }

  private static final class NotingReply extends PassingReply {

    private final ExchangeNotes notes;

    NotingReply(Reply reply, ExchangeNotes notes) {
      super(reply);
      this.notes = notes;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      notes.responseFields(head.fields().copy());
      super.head(head, contentLength);
    }

    @Override
    public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
      notes.responseFields(head.fields().copy());
      return passHead(head, contentLength, whole);
    }

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      int length = (int) (linesAndContent.readableBytes() - contentLength);
      notes.responseFields(fields(ownLines, ownLength, linesAndContent, length));
      super.stored(status, ownLines, ownLength, linesAndContent, contentLength);
    }

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
      notes.responseFields(fields(ownLines, ownLength, lines, lines.readableBytes()));
      super.storedHead(status, ownLines, ownLength, lines, contentLength);
    }

    /** Of encoded lines, each with CRLF. */
    private static Fields fields(byte[] own, int ownLength, ByteBuf stored, int storedLength) {
      int length = ownLength + storedLength;
      Fields fields = new Fields();
      byte[] octets = fields.roomFor(length);
      System.arraycopy(own, 0, octets, 0, ownLength);
      stored.getBytes(stored.readerIndex(), octets, ownLength, storedLength);
      int end;
      for (int start = 0; start < length; start = end + 2) {
        end = Octets.indexOf(octets, start, length, '\r');
        int colon = Octets.indexOf(octets, start, end, ':');
        if (colon < end) {
          fields.pushParsed(start, colon, Octets.skipBlanks(octets, colon + 1, end), end, null);
        }
      }
      return fields;
    }
  }
}
