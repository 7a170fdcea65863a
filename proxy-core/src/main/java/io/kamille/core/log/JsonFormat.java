package io.kamille.core.log;

import io.kamille.core.log.RecordLayout.Text;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** One JSON object per line (RFC 8259); members without a value are left out. */
final class JsonFormat implements LineFormat {

  /*
   * Everything but printable ASCII is written as \\uxxxx, so that no control octet, no direction
   * mark and no invalid UTF-8 reaches a terminal or breaks a parser; octets that are not UTF-8
   * become U+FFFD.
   */
  private final SecondStamp stamp = new SecondStamp("uuuu-MM-dd'T'HH:mm:ss");
  private final List<LoggedField> added;
  private final FieldDigest digest = new FieldDigest();

  JsonFormat(List<LoggedField> added) {
    this.added = added;
  }

  @Override
  public void append(LogRecord record, LineBuffer out) {
    long micros = record.startEpochMicros();
    out.ascii("{\"time\":\"").octets(stamp.octets(Math.floorDiv(micros, 1_000_000L)));
    out.octet('.').digits(Math.floorMod(micros, 1_000_000L), 6).ascii("Z\"");
    if (record.addressLength() > 0) {
      out.ascii(",\"client\":\"");
      out.address(record.octets(), record.addressStart(), record.addressLength()).octet('"');
    }
    text(record, Text.METHOD, "method", out);
    out.ascii(record.isSecure() ? ",\"scheme\":\"https\"" : ",\"scheme\":\"http\"");
    text(record, Text.AUTHORITY, "authority", out);
    text(record, Text.TARGET, "target", out);
    out.ascii(",\"version\":\"HTTP/").decimal(record.version() / 10).octet('.');
    out.decimal(record.version() % 10).octet('"');
    out.ascii(",\"status\":").decimal(record.status());
    if (record.grpcStatus() >= 0) {
      out.ascii(",\"grpcStatus\":").decimal(record.grpcStatus());
    }
    out.ascii(",\"contentBytes\":").decimal(record.contentBytes());
    out.ascii(",\"durationSeconds\":").seconds(record.durationNanos());
    token("cache", record.cacheResult(), out);
    token("failure", record.failure(), out);
    text(record, Text.REFERER, "referer", out);
    text(record, Text.USER_AGENT, "userAgent", out);
    text(record, Text.ROUTE, "route", out);
    text(record, Text.ORIGIN, "origin", out);
    text(record, Text.REASON, "reason", out);
    for (int i = 0; i < added.size(); i++) {
      append(record, Text.COUNT + i, added.get(i), out);
    }
    out.ascii("}\n");
  }

  private void append(LogRecord record, int place, LoggedField field, LineBuffer out) {
    // Every line has the origin.
    if (record.isEmpty(place) || field.kind() == LoggedField.Kind.ORIGIN) {
      return;
    }
    if (field.kind() == LoggedField.Kind.ORIGIN_TIME) {
      out.ascii(",\"").ascii(field.member()).ascii("\":").seconds(record.number(place));
    } else if (field.isSecret()) {
      token(
          field.member(), digest.of(record.octets(), record.start(place), record.end(place)), out);
    } else {
      text(record, place, field.member(), out);
    }
  }

  private static void token(String name, String token, LineBuffer out) {
    if (!token.isEmpty()) {
      out.ascii(",\"").ascii(name).ascii("\":\"").ascii(token).octet('"');
    }
  }

  private static void text(LogRecord record, Text text, String name, LineBuffer out) {
    text(record, text.number(), name, out);
  }

  private static void text(LogRecord record, int place, String name, LineBuffer out) {
    if (record.isEmpty(place)) {
      return;
    }
    out.ascii(",\"").ascii(name).ascii("\":\"");
    appendEscaped(record.octets(), record.start(place), record.end(place), out);
    out.ascii(record.isCut(place) ? "...\"" : "\"");
  }

  private static void appendEscaped(byte[] octets, int start, int end, LineBuffer out) {
    for (int i = start; i < end; i++) {
      if (octets[i] < 0) {
        appendEscaped(new String(octets, i, end - i, StandardCharsets.UTF_8), out);
        return;
      }
      appendEscaped((char) octets[i], out);
    }
  }

  private static void appendEscaped(String rest, LineBuffer out) {
    for (int i = 0; i < rest.length(); i++) {
      appendEscaped(rest.charAt(i), out);
    }
  }

  private static void appendEscaped(char c, LineBuffer out) {
    if (c == '"' || c == '\\') {
      out.octet('\\').octet(c);
    } else if (c >= ' ' && c < 0x7f) {
      out.octet(c);
    } else {
      out.ascii("\\u").hex(c, 4);
    }
  }
}
