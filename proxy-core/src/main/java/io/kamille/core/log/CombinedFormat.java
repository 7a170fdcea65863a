package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;

/** Apache's combined log format; duration in seconds, cache result, failure and more behind it. */
final class CombinedFormat extends LineFormat {

  /*
   *   192.0.2.1 - - [21/Nov/2026:09:00:00 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8" 0.000123 hit - "-"
   *
   * As Apache does, quotes and backslashes are escaped by a backslash and all octets that are not
   * printable ASCII are written as \xhh: whatever a client sends, a line is one line of plain text.
   */
  private static final byte[] DASH = {'-'};

  CombinedFormat(AccessLogSettings settings, FieldDigest digest) {
    super(settings, digest, "dd/MMM/uuuu:HH:mm:ss Z");
  }

  @Override
  void append(Exchange exchange, int status, long contentBytes, long startEpochMicros, long nanos) {
    byte[] client = client(exchange);
    out.octets(client.length == 0 ? DASH : client).ascii(" - - [");
    appendSecond(startEpochMicros).ascii("] \"");
    if (appendOrDash(finds(exchange, Text.METHOD))) {
      out.octet(' ');
      appendOrDash(finds(exchange, Text.TARGET));
      out.octet(' ');
      appendVersion(exchange.request(), out);
    }
    out.ascii("\" ").decimal(status).octet(' ').decimal(contentBytes);
    appendQuoted(finds(exchange, Text.REFERER));
    appendQuoted(finds(exchange, Text.USER_AGENT));
    out.octet(' ').seconds(nanos);
    out.octet(' ').ascii(orDash(cacheResult(exchange.notes())));
    out.octet(' ').ascii(orDash(failure(exchange.notes())));
    appendQuoted(finds(exchange, Text.REASON));
    for (int i = 0; i < added.size(); i++) {
      appendQuoted(finds(exchange, added.get(i)));
    }
  }

  private void appendQuoted(boolean isFound) {
    out.ascii(" \"");
    appendOrDash(isFound);
    out.octet('"');
  }

  private boolean appendOrDash(boolean isFound) {
    if (isFound) {
      appendFound();
    } else {
      out.octet('-');
    }
    return isFound;
  }

  private static String orDash(String token) {
    return token.isEmpty() ? "-" : token;
  }

  @Override
  int appendOther(byte[] octets, int start, int end) {
    out.ascii("\\x").hex(octets[start], 2);
    return start + 1;
  }
}
