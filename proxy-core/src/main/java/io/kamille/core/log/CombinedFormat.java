package io.kamille.core.log;

import io.kamille.core.log.RecordLayout.Text;

/** Apache's combined log format; duration in seconds, cache result and failure behind it. */
final class CombinedFormat implements LineFormat {

  /*
   *   192.0.2.1 - - [21/Nov/2026:09:00:00 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8" 0.000123 hit - "-"
   *
   * As Apache does, quotes and backslashes are escaped by a backslash and all octets that are not
   * printable ASCII are written as \xhh: whatever a client sends, a line is one line of plain text.
   */
  private final SecondStamp stamp = new SecondStamp("dd/MMM/uuuu:HH:mm:ss Z");

  @Override
  public void append(LogRecord record, LineBuffer out) {
    out.address(record.octets(), record.addressStart(), record.addressLength());
    out.ascii(" - - [");
    out.octets(stamp.octets(Math.floorDiv(record.startEpochMicros(), 1_000_000L)));
    out.ascii("] \"");
    appendRequestLine(record, out);
    out.ascii("\" ").decimal(record.status());
    out.octet(' ').decimal(record.contentBytes());
    out.ascii(" \"");
    appendOrDash(record, Text.REFERER, out);
    out.ascii("\" \"");
    appendOrDash(record, Text.USER_AGENT, out);
    out.ascii("\" ").seconds(record.durationNanos());
    out.octet(' ').ascii(orDash(record.cacheResult()));
    out.octet(' ').ascii(orDash(record.failure()));
    out.ascii(" \"");
    appendOrDash(record, Text.REASON, out);
    out.octet('"');
    out.octet('\n');
  }

  private static void appendRequestLine(LogRecord record, LineBuffer out) {
    if (record.isEmpty(Text.METHOD)) {
      out.octet('-');
      return;
    }
    appendEscaped(record, Text.METHOD, out);
    out.octet(' ');
    appendEscaped(record, Text.TARGET, out);
    out.ascii(" HTTP/").decimal(record.version() / 10).octet('.').decimal(record.version() % 10);
  }

  private static void appendOrDash(LogRecord record, Text text, LineBuffer out) {
    if (record.isEmpty(text)) {
      out.octet('-');
    } else {
      appendEscaped(record, text, out);
    }
  }

  private static String orDash(String token) {
    return token.isEmpty() ? "-" : token;
  }

  private static void appendEscaped(LogRecord record, Text text, LineBuffer out) {
    byte[] octets = record.octets();
    for (int i = record.start(text); i < record.end(text); i++) {
      byte octet = octets[i];
      if (octet == '"' || octet == '\\') {
        out.octet('\\').octet(octet);
      } else if (octet >= ' ' && octet < 0x7f) {
        out.octet(octet);
      } else {
        out.ascii("\\x").hex(octet, 2);
      }
    }
    if (record.isCut(text)) {
      out.ascii("...");
    }
  }
}
