package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import java.util.Map;

/**
 * What a resource answers. Immutable.
 *
 * @param contentType the media type of {@code content}
 * @param fields further fields, by name
 */
public record Answer(int status, String contentType, String content, Map<String, String> fields) {

  public Answer {
    fields = Map.copyOf(fields);
  }

  /** A sentence. */
  static Answer text(int status, String text) {
    return new Answer(status, "text/plain; charset=utf-8", text + "\n", Map.of());
  }

  /** A value as JSON. */
  static Answer json(Object value) {
    return new Answer(StatusCode.OK, "application/json", Json.write(value), Map.of());
  }

  /** Why a request was not fulfilled (RFC 9457). */
  public static Answer problem(int status, String detail) {
    return problem(status, detail, Map.of());
  }

  static Answer problem(int status, String detail, Map<String, String> fields) {
    String content = Json.write(new Problem(StatusCode.reason(status), status, detail));
    return new Answer(status, "application/problem+json", content, fields);
  }

  /**
   * A problem of type {@code about:blank}, whose title is that of its status code (RFC 9457
   * §4.2.1).
   */
  private record Problem(String title, int status, String detail) {}
}
