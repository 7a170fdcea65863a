package io.kamille.perf.soak;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request, and what is needed to tell a right answer to it.
 *
 * @param least the oldest version that may be the answer
 * @param first of the range asked for, with {@code last}; -1 if none was
 * @param lines further field lines, each ended by CRLF
 */
record Wanted(
    String method, Subject subject, int variant, long least, int first, int last, String lines) {

  static final List<String> LANGUAGES = List.of("en", "de", "fr");
  static final String HOST = "soak.example";

  private static final String CONDITION = "If-None-Match: ";
  private static final String CODING = "Accept-Encoding: gzip\r\n";

  /** A GET for the whole, which begins now. */
  static Wanted get(Versions versions, Subject subject, int variant) {
    boolean isVarying = subject.family() == Family.VARY;
    String lines = isVarying ? "Accept-Language: " + LANGUAGES.get(variant) + "\r\n" : "";
    return new Wanted("GET", subject, variant, versions.least(subject), -1, -1, lines);
  }

  Wanted head() {
    return new Wanted("HEAD", subject, variant, least, first, last, lines);
  }

  Wanted range(int from, int to, @Nullable String ifRange) {
    String condition = ifRange == null ? "" : "If-Range: " + ifRange + "\r\n";
    String range = "Range: bytes=" + from + "-" + to + "\r\n";
    return new Wanted(method, subject, variant, least, from, to, lines + range + condition);
  }

  Wanted unless(String entityTag) {
    return with(CONDITION + entityTag + "\r\n");
  }

  Wanted gzip() {
    return with(CODING);
  }

  private Wanted with(String line) {
    return new Wanted(method, subject, variant, least, first, last, lines + line);
  }

  boolean isConditional() {
    return lines.contains(CONDITION);
  }

  boolean takesGzip() {
    return lines.contains(CODING);
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  /** The octets of the head. */
  String text() {
    return beginning(method, subject) + lines + "\r\n";
  }

  /** Request line and Host. */
  static String beginning(String method, Subject subject) {
    return method + " " + subject.target() + " HTTP/1.1\r\nHost: " + HOST + "\r\n";
  }

  /** The URL that clients ask for. */
  static String url(Subject subject) {
    return "http://" + HOST + subject.target();
  }
}
