package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of one operation: the router checks requests by it, and the OpenAPI document is
 * made of it. Immutable.
 *
 * @param method GET implies HEAD
 * @param path its segments are literal or, in braces, parameters, which may be percent-encoded
 * @param scope who may ask; null for everybody
 * @param summary one sentence
 * @param parameters of the query and the path
 * @param content of the request
 * @param result how it is answered
 */
public record Operation(
    String method,
    String path,
    @Nullable Scope scope,
    String summary,
    List<Parameter> parameters,
    Content content,
    Result result) {

  /** The longest content of most operations. */
  public static final int CONTENT_LIMIT_BYTES = 64 << 10;

  private static final String JSON = "application/json";

  /** One parameter of the query. */
  public record Parameter(String name, boolean isRequired, String summary) {}

  /**
   * What a request may carry.
   *
   * @param types its media types; empty where it has no content
   * @param limitBytes the longest content
   */
  public record Content(List<String> types, int limitBytes) {

    public Content {
      types = List.copyOf(types);
    }
  }

  /**
   * How a request is answered.
   *
   * @param type the media type of a successful answer
   * @param document the record that JSON is written from, for its schema; null if there is none
   * @param isImmediate whether on the listener's own loop: it never waits for anything
   */
  public record Result(String type, @Nullable Class<?> document, boolean isImmediate) {}

  public Operation {
    parameters = List.copyOf(parameters);
  }

  /** Reads. */
  public static Operation get(String path, Scope scope, String summary) {
    return of("GET", path, scope, summary);
  }

  /** Reads, for everybody. */
  static Operation open(String path, String summary) {
    return of("GET", path, null, summary);
  }

  /** Makes something of the content, for everybody. */
  static Operation openPost(String path, String summary) {
    return of("POST", path, null, summary).takes(JSON);
  }

  /** Makes something of the content. */
  public static Operation post(String path, Scope scope, String summary) {
    return of("POST", path, scope, summary).takes(JSON);
  }

  /** Replaces with the content. */
  public static Operation put(String path, Scope scope, String summary) {
    return of("PUT", path, scope, summary).takes(JSON);
  }

  /** Changes by the content. */
  public static Operation patch(String path, Scope scope, String summary, String... contentType) {
    return of("PATCH", path, scope, summary).takes(contentType);
  }

  /** Removes. */
  public static Operation delete(String path, Scope scope, String summary) {
    return of("DELETE", path, scope, summary);
  }

  private static Operation of(String method, String path, @Nullable Scope scope, String summary) {
    Content none = new Content(List.of(), CONTENT_LIMIT_BYTES);
    return new Operation(
        method, path, scope, summary, List.of(), none, new Result(JSON, null, false));
  }

  /** With a parameter of the query that may be there. */
  public Operation may(String name, String sentence) {
    return with(new Parameter(name, false, sentence));
  }

  /** With a parameter of the query that must be there. */
  public Operation must(String name, String sentence) {
    return with(new Parameter(name, true, sentence));
  }

  /** With other media types of the content; none for no content. */
  public Operation takes(String... types) {
    return with(new Content(List.of(types), content.limitBytes));
  }

  /** With another limit for the content. */
  public Operation upTo(int bytes) {
    return with(new Content(content.types, bytes));
  }

  /** With the record that the answer is written from. */
  public Operation answers(Class<?> document) {
    return with(new Result(result.type, document, result.isImmediate));
  }

  /** With an answer that is no JSON. */
  public Operation answersAs(String mediaType) {
    return with(new Result(mediaType, null, result.isImmediate));
  }

  /** Answered on the listener's own loop. */
  Operation immediately() {
    return with(new Result(result.type, result.document, true));
  }

  private Operation with(Parameter parameter) {
    List<Parameter> all = new ArrayList<>(parameters);
    all.add(parameter);
    return new Operation(method, path, scope, summary, all, content, result);
  }

  private Operation with(Content other) {
    return new Operation(method, path, scope, summary, parameters, other, result);
  }

  private Operation with(Result other) {
    return new Operation(method, path, scope, summary, parameters, content, other);
  }

  /** Whether it changes nothing. */
  public boolean isSafe() {
    return method.equals("GET");
  }

  // Paths

  /** The parameters of a path that has the form of this one, or null. */
  @Nullable Map<String, String> match(String given) {
    String[] segments = path.split("/", -1);
    String[] values = given.split("/", -1);
    if (values.length != segments.length) {
      return null;
    }
    Map<String, String> found = new LinkedHashMap<>();
    for (int i = 0; i < segments.length; i++) {
      String name = parameter(segments[i]);
      String value = name == null ? "" : decoded(values[i]);
      if (name != null && !value.isEmpty()) {
        found.put(name, value);
      } else if (!segments[i].equals(values[i])) {
        return null;
      }
    }
    return found;
  }

  /** The names of the parameters of the path, in order. */
  List<String> pathParameters() {
    List<String> names = new ArrayList<>();
    for (String segment : path.split("/", -1)) {
      String name = parameter(segment);
      if (name != null) {
        names.add(name);
      }
    }
    return names;
  }

  private static @Nullable String parameter(String segment) {
    return segment.startsWith("{") && segment.endsWith("}")
        ? segment.substring(1, segment.length() - 1)
        : null;
  }

  /** Empty if it is malformed. */
  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      return "";
    }
  }
}
