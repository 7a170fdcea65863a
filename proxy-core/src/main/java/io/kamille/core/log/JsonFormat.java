package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** One JSON object per line (RFC 8259); members without a value are left out. */
final class JsonFormat extends LineFormat {

  /*
   * Everything but printable ASCII is written as \\uxxxx, so that no control octet, no direction
   * mark and no invalid UTF-8 reaches a terminal or breaks a parser; octets that are not UTF-8
   * become U+FFFD.
   */
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE);
  private final ByteBuffer encoded = ByteBuffer.allocate(Text.TARGET.limit);
  private final CharBuffer decoded = CharBuffer.allocate(Text.TARGET.limit);

  JsonFormat(AccessLogSettings settings, FieldDigest digest) {
    super(settings, digest, "uuuu-MM-dd'T'HH:mm:ss");
  }

  @Override
  void append(Exchange exchange, int status, long contentBytes, long startEpochMicros, long nanos) {
    ExchangeNotes notes = exchange.notes();
    out.ascii("{\"time\":\"");
    appendSecond(startEpochMicros)
        .octet('.')
        .digits(Math.floorMod(startEpochMicros, 1_000_000L), 6)
        .ascii("Z\"");
    byte[] client = client(exchange);
    if (client.length > 0) {
      out.ascii(",\"client\":\"").octets(client).octet('"');
    }
    text("method", finds(exchange, Text.METHOD));
    token("scheme", exchange.request().isSecure() ? "https" : "http");
    text("authority", finds(exchange, Text.AUTHORITY));
    text("target", finds(exchange, Text.TARGET));
    out.ascii(",\"version\":\"");
    appendVersion(exchange.request(), out);
    out.ascii("\",\"status\":").decimal(status);
    if (notes.grpcStatus() >= 0) {
      out.ascii(",\"grpcStatus\":").decimal(notes.grpcStatus());
    }
    out.ascii(",\"contentBytes\":").decimal(contentBytes);
    out.ascii(",\"durationSeconds\":").seconds(nanos);
    token("cache", cacheResult(notes));
    token("failure", failure(notes));
    text("referer", finds(exchange, Text.REFERER));
    text("userAgent", finds(exchange, Text.USER_AGENT));
    text("route", finds(exchange, Text.ROUTE));
    text("origin", finds(exchange, Text.ORIGIN));
    text("reason", finds(exchange, Text.REASON));
    for (int i = 0; i < added.size(); i++) {
      append(exchange, added.get(i));
    }
    out.octet('}');
  }

  private void append(Exchange exchange, LoggedField field) {
    // Every line has the origin.
    if (field.kind() == LoggedField.Source.ORIGIN || !finds(exchange, field)) {
      return;
    }
    boolean isNumber = field.kind() == LoggedField.Source.ORIGIN_TIME;
    out.ascii(",\"").ascii(field.kind().member()).ascii(field.name());
    out.ascii(isNumber ? "\":" : "\":\"");
    appendFound();
    out.ascii(isNumber ? "" : "\"");
  }

  private void token(String name, String token) {
    if (!token.isEmpty()) {
      out.ascii(",\"").ascii(name).ascii("\":\"").ascii(token).octet('"');
    }
  }

  private void text(String name, boolean isFound) {
    if (isFound) {
      out.ascii(",\"").ascii(name).ascii("\":\"");
      appendFound();
      out.octet('"');
    }
  }

  @Override
  int appendOther(byte[] octets, int start, int end) {
    int next = start + 1;
    while (octets[start] < 0 && next < end && octets[next] < 0) {
      next++;
    }
    encoded.clear().put(octets, start, next - start).flip();
    decoder.reset().decode(encoded, decoded.clear(), true);
    decoder.flush(decoded);
    for (decoded.flip(); decoded.hasRemaining(); ) {
      out.ascii("\\u").hex(decoded.get(), 4);
    }
    return next;
  }
}
