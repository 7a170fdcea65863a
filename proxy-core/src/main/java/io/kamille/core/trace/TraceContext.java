package io.kamille.core.trace;

import io.kamille.core.http.Fields;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code traceparent} field says (W3C Trace Context §3.2). Immutable.
 *
 * @param trace the identifier of the trace, 32 hexadecimal digits
 * @param span the identifier of the sender's span, 16 digits
 * @param isSampled whether the sender records it
 */
record TraceContext(String trace, String span, boolean isSampled) {

  static final String PARENT = "traceparent";
  static final String STATE = "tracestate";

  /*
   * A version other than 00 may have more parts behind these four; ff is none. Identifiers of
   * nothing but zeros are invalid. A field that is there twice says nothing.
   */
  private static final Pattern SYNTAX =
      Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
  private static final int LENGTH = 55;
  private static final int TRACE = 3;
  private static final int SPAN = 36;
  private static final int FLAGS = 53;
  private static final int SAMPLED = 1;

  /** What these fields say; null if nothing, or nothing valid. */
  static @Nullable TraceContext of(Fields fields) {
    List<String> lines = fields.all(PARENT);
    return lines.size() == 1 ? parse(lines.getFirst()) : null;
  }

  static @Nullable TraceContext parse(String text) {
    boolean isLonger = text.length() > LENGTH;
    if (isLonger && (text.startsWith("00") || text.charAt(LENGTH) != '-')) {
      return null;
    }
    if (text.length() < LENGTH || !SYNTAX.matcher(text).region(0, LENGTH).matches()) {
      return null;
    }
    int flags = Integer.parseInt(text, FLAGS, LENGTH, 16);
    return new TraceContext(
        text.substring(TRACE, SPAN - 1), text.substring(SPAN, FLAGS - 1), (flags & SAMPLED) != 0);
  }

  /** The value of the field. */
  String text() {
    return "00-" + trace + "-" + span + (isSampled ? "-01" : "-00");
  }
}
