package io.kamille.core.log;

import io.kamille.core.log.RecordLayout.Text;
import java.util.List;

/** Apache's combined log format; duration in seconds, cache result, failure and more behind it. */
final class CombinedFormat implements LineFormat {

  /*
   *   192.0.2.1 - - [21/Nov/2026:09:00:00 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8" 0.000123 hit - "-"
   *
   * As Apache does, quotes and backslashes are escaped by a backslash and all octets that are not
   * printable ASCII are written as \xhh: whatever a client sends, a line is one line of plain text.
   */
  private final SecondStamp stamp = new SecondStamp("dd/MMM/uuuu:HH:mm:ss Z");
  private final List<LoggedField> added;
  private final FieldDigest digest = new FieldDigest();

  CombinedFormat(List<LoggedField> added) {
    this.added = added;
  }

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
    for (int i = 0; i < added.size(); i++) {
      out.ascii(" \"");
      append(record, Text.COUNT + i, added.get(i), out);
      out.octet('"');
    }
    out.octet('\n');
  }

  private void append(LogRecord record, int place, LoggedField field, LineBuffer out) {
    if (record.isEmpty(place)) {
      out.octet('-');
    } else if (field.kind() == LoggedField.Kind.ORIGIN_TIME) {
      out.seconds(record.number(place));
    } else if (field.isSecret()) {
      out.ascii(digest.of(record.octets(), record.start(place), record.end(place)));
    } else {
      appendEscaped(record, place, out);
    }
  }

  private static void appendRequestLine(LogRecord record, LineBuffer out) {
    if (record.isEmpty(Text.METHOD.number())) {
      out.octet('-');
      return;
    }
    appendEscaped(record, Text.METHOD.number(), out);
    out.octet(' ');
    appendOrDash(record, Text.TARGET, out);
    out.ascii(" HTTP/").decimal(record.version() / 10).octet('.').decimal(record.version() % 10);
  }

  private static void appendOrDash(LogRecord record, Text text, LineBuffer out) {
    if (record.isEmpty(text.number())) {
      out.octet('-');
    } else {
      appendEscaped(record, text.number(), out);
    }
  }

  private static String orDash(String token) {
    return token.isEmpty() ? "-" : token;
  }

  private static void appendEscaped(LogRecord record, int place, LineBuffer out) {
    for (int i = record.start(place); i < record.end(place); i++) {
      byte octet = record.octets()[i];
      if (octet == '"' || octet == '\\') {
        out.octet('\\').octet(octet);
      } else if (octet >= ' ' && octet < 0x7f) {
        out.octet(octet);
      } else {
        out.ascii("\\x").hex(octet, 2);
      }
    }
    if (record.isCut(place)) {
      out.ascii("...");
    }
  }
}
