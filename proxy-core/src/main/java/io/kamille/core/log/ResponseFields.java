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
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The station that notes fields of responses for the access log, where it has such. It sees what
 * the stations give, not what a connection adds. Any thread; what it notes belongs to the exchange.
 */
final class ResponseFields implements ExchangeHandler {

  private static final byte[] COMMA = {',', ' '};

  private final ExchangeHandler next;
  private final List<String> names;

  /**
   * The station before {@code next}.
   *
   * @param names in lower case
   */
  ResponseFields(ExchangeHandler next, List<String> names) {
    this.next = next;
    this.names = List.copyOf(names);
  }

  @Override
  public void handle(Exchange exchange) {
    next.handle(exchange.behind(new NotingReply(exchange.reply(), exchange.notes())));
  }

  /** Notes the values in the order of the names, each empty if it is not there. */
  private final class NotingReply extends PassingReply {

    private final ExchangeNotes notes;
    private final byte[][] values = new byte[names.size()][];

    NotingReply(Reply reply, ExchangeNotes notes) {
      super(reply);
      this.notes = notes;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      note(head.fields());
      super.head(head, contentLength);
    }

    @Override
    public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
      note(head.fields());
      return passHead(head, contentLength, whole);
    }

    private void note(Fields fields) {
      for (int line = 0; line < fields.size(); line++) {
        for (int i = 0; i < values.length; i++) {
          if (fields.nameIs(line, names.get(i))) {
            put(
                i,
                Arrays.copyOfRange(
                    fields.octets(), fields.valueStart(line), fields.valueEnd(line)));
          }
        }
      }
      notes.responseFields(values);
    }

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      noteLines(
          ownLines,
          ownLength,
          linesAndContent,
          (int) (linesAndContent.readableBytes() - contentLength));
      super.stored(status, ownLines, ownLength, linesAndContent, contentLength);
    }

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
      noteLines(ownLines, ownLength, lines, lines.readableBytes());
      super.storedHead(status, ownLines, ownLength, lines, contentLength);
    }

    private void noteLines(byte[] own, int ownLength, ByteBuf stored, int length) {
      noteLines(own, ownLength);
      byte[] lines = new byte[length];
      stored.getBytes(stored.readerIndex(), lines);
      noteLines(lines, length);
      notes.responseFields(values);
    }

    /** Encoded lines, each with CRLF. */
    private void noteLines(byte[] lines, int length) {
      int start = 0;
      while (start < length) {
        int end = indexOf(lines, '\r', start, length);
        int colon = indexOf(lines, ':', start, end);
        for (int i = 0; i < values.length && colon < end; i++) {
          if (Octets.equalsIgnoreCase(lines, start, colon, names.get(i))) {
            int from = colon + 1;
            while (from < end && lines[from] == ' ') {
              from++;
            }
            put(i, Arrays.copyOfRange(lines, from, end));
          }
        }
        start = end + 2;
      }
    }

    private static int indexOf(byte[] octets, int octet, int start, int end) {
      int at = start;
      while (at < end && octets[at] != octet) {
        at++;
      }
      return at;
    }

    private void put(int i, byte[] value) {
      byte[] before = values[i];
      if (before == null) {
        values[i] = value;
      } else if (before.length < RecordLayout.EXTRA_LIMIT) {
        byte[] joined = Arrays.copyOf(before, before.length + COMMA.length + value.length);
        System.arraycopy(COMMA, 0, joined, before.length, COMMA.length);
        System.arraycopy(value, 0, joined, before.length + COMMA.length, value.length);
        values[i] = joined;
      }
    }
  }
}
