package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a resource answers. Immutable.
 *
 * @param contentType the media type of {@code content}
 * @param content not to be changed
 * @param fields further fields, by name
 * @param later what waits for others and makes the answer, on a thread of its own; null if none
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares answers
public record Answer(
    int status,
    String contentType,
    byte[] content,
    Map<String, String> fields,
    @Nullable Supplier<Answer> later) {

  /** The media type of a stream: what an answer of this type holds is only its beginning. */
  public static final String EVENT_STREAM = "text/event-stream";

  public Answer {
    fields = Map.copyOf(fields);
  }

  public Answer(int status, String contentType, byte[] content, Map<String, String> fields) {
    this(status, contentType, content, fields, null);
  }

  /** What {@code work} answers once it has waited for others, on a thread of its own. */
  public static Answer later(Supplier<Answer> work) {
    return new Answer(StatusCode.ACCEPTED, "", new byte[0], Map.of(), work);
  }

  /** Waits for the answer. */
  public Answer awaited() {
    return later == null ? this : later.get();
  }

  /** The same, which {@code afterwards} is told of. */
  Answer then(Consumer<Answer> afterwards) {
    Supplier<Answer> work = later;
    if (work != null) {
      return later(() -> work.get().then(afterwards));
    }
    afterwards.accept(this);
    return this;
  }

  /** Text of a media type. */
  public static Answer of(int status, String contentType, String text) {
    return new Answer(status, contentType, text.getBytes(StandardCharsets.UTF_8), Map.of());
  }

  /** A sentence. */
  public static Answer text(int status, String text) {
    return of(status, "text/plain; charset=utf-8", text + "\n");
  }

  /** A value as JSON. */
  public static Answer json(Object value) {
    return json(StatusCode.OK, value);
  }

  /** A value as JSON, with a status code. */
  public static Answer json(int status, Object value) {
    return of(status, "application/json", jsonText(value));
  }

  /** A value as JSON, with a line feed. */
  public static String jsonText(Object value) {
    return JsonMapping.MAPPER.writeValueAsString(value) + "\n";
  }

  /** Done, and there is nothing to tell. */
  public static Answer nothing() {
    return new Answer(StatusCode.NO_CONTENT, "", new byte[0], Map.of());
  }

  /** The same answer with one more field. */
  public Answer with(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(fields);
    all.put(name, value);
    return new Answer(status, contentType, content, all, later);
  }

  /**
   * Why a request was not fulfilled, of type {@code about:blank}, whose title is that of the status
   * code (RFC 9457 §4.2.1).
   */
  public static Answer problem(int status, String detail) {
    return problem(status, Map.of("title", StatusCode.reason(status)), detail, List.of());
  }

  /**
   * Why a request was not fulfilled, by a type of our own (RFC 9457).
   *
   * @param errors all that is wrong; empty if {@code detail} says it
   */
  public static Answer problem(ProblemType type, String detail, List<?> errors) {
    Map<String, String> kind = new LinkedHashMap<>();
    kind.put("type", "/problems/" + type.token());
    kind.put("title", type.title());
    return problem(type.status(), kind, detail, errors);
  }

  private static Answer problem(
      int status, Map<String, String> kind, String detail, List<?> errors) {
    Map<String, Object> document = new LinkedHashMap<>(kind);
    document.put("status", status);
    document.put("detail", detail);
    if (!errors.isEmpty()) {
      document.put("errors", errors);
    }
    return of(status, "application/problem+json", jsonText(document));
  }
}
