package io.kamille.perf.soak;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A message head that was received.
 *
 * @param fields by name in lower case; values of one name are joined by commas
 */
record Head(String startLine, Map<String, String> fields) {

  static Head parse(String text) {
    String[] lines = text.split("\r\n", -1);
    var fields = new TreeMap<String, String>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      if (colon > 0) {
        fields.merge(
            lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
            lines[i].substring(colon + 1).strip(),
            (first, second) -> first + ", " + second);
      }
    }
    return new Head(lines[0], fields);
  }

  @Nullable String field(String name) {
    return fields.get(name);
  }

  boolean has(String name) {
    return fields.containsKey(name);
  }

  /** A word of the start line, from 0 on; empty if there is none. */
  String word(int index) {
    String[] words = startLine.split(" ", -1);
    return index < words.length ? words[index] : "";
  }

  /** The status code of a response. */
  int status() {
    return Integer.parseInt(word(1));
  }

  boolean isChunked() {
    return "chunked".equalsIgnoreCase(field("transfer-encoding"));
  }

  /** Content-Length; -1 if there is none. */
  int contentLength() {
    String value = field("content-length");
    return value == null ? -1 : Integer.parseInt(value);
  }

  /** Whether the sender ends the connection behind this message. */
  boolean isLast() {
    return "close".equalsIgnoreCase(field("connection")) || startLine.startsWith("HTTP/1.0");
  }
}
