package io.kamille.core.client.h2;

import io.kamille.core.client.ServerShard;
import io.kamille.core.gate.Overload;
import io.kamille.core.h2.H2Connection;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;

/**
 * Writes the header sections of answers into the scratch of the loop (RFC 9113 §8.3.2). One for
 * each connection. Confined to its loop.
 */
final class StreamHeads {

  private final H2Connection h2;
  private final H2Shard shard;
  private final ServerShard shared;

  StreamHeads(H2Connection h2, H2Shard shard) {
    this.h2 = h2;
    this.shard = shard;
    this.shared = shard.server();
  }

  HpackWriter interim(ResponseHead head) {
    HpackWriter out = section(head.status());
    lines(out, head.fields());
    return out;
  }

  /** A final head; {@code contentLength} is negative if unknown. */
  HpackWriter head(ResponseHead head, long contentLength) {
    HpackWriter out = section(head.status());
    hsts(out);
    lines(out, head.fields());
    if (!head.has(FieldName.DATE)) {
      out.line(FieldName.DATE, HttpDate.format(shared.epochSeconds()));
    }
    if (contentLength >= 0 && head.status() != StatusCode.NO_CONTENT) {
      out.line(FieldName.CONTENT_LENGTH, contentLength);
    }
    return out;
  }

  /** The head of a stored response; takes its lines off the beginning of {@code rest}. */
  HpackWriter stored(int status, byte[] ownLines, int ownLength, ByteBuf rest, int linesLength) {
    byte[] lines = shard.lines(linesLength);
    rest.readBytes(lines, 0, linesLength);
    HpackWriter out = section(status);
    hsts(out);
    out.lines(ownLines, 0, ownLength);
    out.lines(lines, 0, linesLength);
    return out;
  }

  /** What a request is told that is shed. */
  ResponseHead shed() {
    return ResponseHead.of(
        Overload.SHED.status(),
        "Cache-Control",
        "no-store",
        "Retry-After",
        Integer.toString(shared.shedder().retryAfterSeconds()),
        "Proxy-Status",
        Overload.SHED.proxyStatus(shared.name()));
  }

  private HpackWriter section(int status) {
    HpackWriter out = h2.section();
    out.status(status);
    return out;
  }

  private void hsts(HpackWriter out) {
    byte[] line = shard.policy().hsts();
    out.lines(line, 0, line.length);
  }

  private void lines(HpackWriter out, Fields fields) {
    for (int i = 0; i < fields.size(); i++) {
      FieldName name = fields.knownAt(i);
      if (name != FieldName.CONTENT_LENGTH
          && !(name == FieldName.STRICT_TRANSPORT_SECURITY && shard.policy().hasHsts())) {
        out.line(fields, i);
      }
    }
  }
}
