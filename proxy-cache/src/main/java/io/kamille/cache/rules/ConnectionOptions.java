package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;

/**
 * The options of a request's {@code Connection} field (RFC 9110 §7.6.1), as far as the cache has to
 * know them. Stateless; any thread.
 */
final class ConnectionOptions {

  /*
   * A field that is named there does not reach the origin, so the answer was not selected by it;
   * but Vary may name it, and then the answer would be kept for those whose field does reach the
   * origin. Options that every client sends, and that select nothing, are no such reason.
   */
  private static final List<String> HARMLESS =
      List.of(
          "keep-alive",
          "close",
          "upgrade",
          "te",
          "http2-settings",
          "transfer-encoding",
          "proxy-connection",
          "trailer");

  private static final int LIMIT = 16;

  private ConnectionOptions() {}

  /**
   * Whether a field of the request is for the connection only, or there are more options than
   * anybody needs. Makes no garbage.
   */
  static boolean hideFields(Fields request) {
    int options = 0;
    for (int line = request.indexOf(FieldName.CONNECTION);
        line >= 0;
        line = request.indexOf(FieldName.CONNECTION, line + 1)) {
      int at = request.valueStart(line);
      int end = request.valueEnd(line);
      while (at < end) {
        int comma = Octets.indexOf(request.octets(), at, end, ',');
        if (++options > LIMIT || hides(request, at, comma)) {
          return true;
        }
        at = comma + 1;
      }
    }
    return false;
  }

  private static boolean hides(Fields request, int from, int to) {
    byte[] octets = request.octets();
    int start = Octets.skipBlanks(octets, from, to);
    int end = Octets.trimmedEnd(octets, start, to);
    for (int i = 0; i < HARMLESS.size(); i++) {
      if (Octets.equalsIgnoreCase(octets, start, end, HARMLESS.get(i))) {
        return false;
      }
    }
    for (int i = 0; i < request.size(); i++) {
      if (isSame(octets, start, end, request.nameStart(i), request.nameEnd(i))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSame(byte[] octets, int start, int end, int nameStart, int nameEnd) {
    if (end - start != nameEnd - nameStart) {
      return false;
    }
    for (int i = 0; i < end - start; i++) {
      if (Octets.lower(octets[start + i]) != Octets.lower(octets[nameStart + i])) {
        return false;
      }
    }
    return true;
  }
}
