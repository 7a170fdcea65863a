package io.kamille.cache.store;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** Response heads as octets, in the form {@link StoredResponse} draws. Stateless; any thread. */
public final class ResponseCodec {

  private ResponseCodec() {}

  /**
   * Appends target URI, field lines and the empty line to {@code out}, which it borrows.
   * Cache-Status is kept apart, because every answer from the store adds to it.
   *
   * @param head the fields to be stored and no others (RFC 9111 §3.1)
   */
  public static EncodedHead encode(String uri, ResponseHead head, ByteBuf out) {
    int start = out.writerIndex();
    int uriLength = out.writeCharSequence(uri, StandardCharsets.ISO_8859_1);
    Fields fields = head.fields();
    for (int i = 0; i < fields.size(); i++) {
      if (fields.knownAt(i) != FieldName.CACHE_STATUS) {
        fields.writeLineTo(out, i);
      }
    }
    out.writeShort('\r' << 8 | '\n');
    return new EncodedHead(
        head.status(), uriLength, out.writerIndex() - start, fields.joined(FieldName.CACHE_STATUS));
  }

  /** Reads the field lines that {@link #encode} wrote, up to the empty line. */
  static ResponseHead decode(int status, byte[] lines) {
    Fields fields = new Fields();
    int start = 0;
    while (lines[start] != '\r') {
      int colon = indexOf(lines, ':', start);
      int end = indexOf(lines, '\r', colon);
      fields.add(Octets.text(lines, start, colon), Octets.text(lines, colon + 2, end));
      start = end + 2;
    }
    return ResponseHead.of(status, fields);
  }

  private static int indexOf(byte[] octets, char wanted, int from) {
    int at = from;
    while (octets[at] != wanted) {
      at++;
    }
    return at;
  }
}
