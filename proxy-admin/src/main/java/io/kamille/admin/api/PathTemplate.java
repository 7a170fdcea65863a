package io.kamille.admin.api;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A path whose segments are literal or, in braces, parameters, which may be percent-encoded.
 * Immutable; any thread.
 */
final class PathTemplate {

  private final List<String> segments;

  PathTemplate(String template) {
    this.segments = List.of(template.split("/", -1));
  }

  /** The parameters of a path that has this form, or null. */
  @Nullable Map<String, String> match(String path) {
    List<String> given = List.of(path.split("/", -1));
    if (given.size() != segments.size()) {
      return null;
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    for (int i = 0; i < segments.size(); i++) {
      String segment = segments.get(i);
      String value = isParameter(segment) ? decoded(given.get(i)) : "";
      if (!value.isEmpty()) {
        parameters.put(segment.substring(1, segment.length() - 1), value);
      } else if (!segment.equals(given.get(i))) {
        return null;
      }
    }
    return parameters;
  }

  /** The names of the parameters, in order. */
  List<String> parameters() {
    return segments.stream()
        .filter(PathTemplate::isParameter)
        .map(segment -> segment.substring(1, segment.length() - 1))
        .toList();
  }

  /** Empty if it is malformed. */
  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      return "";
    }
  }

  private static boolean isParameter(String segment) {
    return segment.startsWith("{") && segment.endsWith("}");
  }
}
