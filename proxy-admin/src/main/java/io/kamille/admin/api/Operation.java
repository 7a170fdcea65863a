package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the control plane: a row of the {@link OperationTable}, which checks requests by
 * it and has it answer them. The OpenAPI document is made of these rows, too. Declared once, and
 * not changed any more from {@link #by} on.
 */
public final class Operation {

  /** The longest content of most operations. */
  public static final int CONTENT_LIMIT_BYTES = 64 << 10;

  static final String JSON = "application/json";

  final String method;
  final String path;
  private final String[] segments;

  /** What somebody needs to ask; null if everybody may. */
  final @Nullable Scope scope;

  final String summary;
  final List<Parameter> parameters = new ArrayList<>();
  private List<String> contentTypes = List.of();
  private int contentLimitBytes = CONTENT_LIMIT_BYTES;
  private String answerType = JSON;
  private @Nullable Class<?> document;
  private final Lane lane;
  private boolean isImmediate;
  private boolean isForEveryScope;
  private BooleanSupplier waiting = () -> false;
  private Handler handler =
      (_, _) -> {
        throw new IllegalStateException("nobody answers");
      };

  /** Which operations wait for one another: each lane has a thread. */
  public enum Lane {
    /** What monitoring asks. It reads what is there, and waits for no other operation. */
    STATUS,
    READS,
    PURGES,
    ACCESS,
    CONFIGURATION,
    CHANGES
  }

  /** One parameter of the query. */
  record Parameter(String name, boolean isRequired, String summary) {}

  /** Answers requests. Confined to the thread of its lane, unless it answers immediately. */
  @FunctionalInterface
  public interface Handler {

    /**
     * Answers a request by somebody who may make it.
     *
     * @param query empty if the operation has no parameters
     */
    Answer answer(AdminRequest request, Query query) throws InvalidRequest;
  }

  private Operation(String method, String path, @Nullable Scope scope, String summary) {
    this.method = method;
    this.path = path;
    this.segments = path.split("/", -1);
    this.scope = scope;
    this.summary = summary;
    this.lane = lane();
  }

  private Lane lane() {
    if (path.equals(PurgeResources.PATH)) {
      return Lane.PURGES;
    }
    return switch (segments[segments.length > 2 ? 2 : 1]) {
      case "metrics", "problems", "status" -> Lane.STATUS;
      case "audit", "session", "tokens" -> Lane.ACCESS;
      case "certificates", "config" -> Lane.CONFIGURATION;
      default -> isSafe() ? Lane.READS : Lane.CHANGES;
    };
  }

  // The row

  /**
   * Reads.
   *
   * @param path its segments are literal or, in braces, parameters, which may be percent-encoded
   * @param scope who may ask
   * @param summary one sentence
   */
  public static Operation get(String path, Scope scope, String summary) {
    return new Operation("GET", path, scope, summary);
  }

  /** Reads, for everybody. */
  public static Operation open(String path, String summary) {
    return new Operation("GET", path, null, summary);
  }

  /** Makes something of the content, for everybody. */
  static Operation openPost(String path, String summary) {
    return new Operation("POST", path, null, summary).takes(JSON);
  }

  /** Makes something of the content. */
  public static Operation post(String path, Scope scope, String summary) {
    return new Operation("POST", path, scope, summary).takes(JSON);
  }

  /** Replaces with the content. */
  public static Operation put(String path, Scope scope, String summary) {
    return new Operation("PUT", path, scope, summary).takes(JSON);
  }

  /** Removes. */
  public static Operation delete(String path, Scope scope, String summary) {
    return new Operation("DELETE", path, scope, summary);
  }

  /** With a parameter of the query that may be there. */
  public Operation may(String name, String sentence) {
    parameters.add(new Parameter(name, false, sentence));
    return this;
  }

  /** With a parameter of the query that must be there. */
  public Operation must(String name, String sentence) {
    parameters.add(new Parameter(name, true, sentence));
    return this;
  }

  /** With other media types of the content; none for no content. */
  public Operation takes(String... types) {
    contentTypes = List.of(types);
    return this;
  }

  /** With another limit for the content. */
  public Operation upTo(int bytes) {
    contentLimitBytes = bytes;
    return this;
  }

  /** With the record that the JSON of the answer is written from. */
  public Operation answers(Class<?> record) {
    document = record;
    return this;
  }

  /** With an answer that is no JSON. */
  public Operation answersAs(String mediaType) {
    answerType = mediaType;
    return this;
  }

  /** Answered on the listener's own loop: it never waits for anything. */
  public Operation immediately() {
    isImmediate = true;
    return this;
  }

  /** For everybody who is known, whatever their scope. */
  Operation forEveryScope() {
    isForEveryScope = true;
    return this;
  }

  /** Answered {@linkplain Answer#later later} while that is true; what it does begins then. */
  Operation laterWhile(BooleanSupplier waiting) {
    this.waiting = waiting;
    return this;
  }

  /** With what answers it. */
  public Operation by(Handler answering) {
    handler = answering;
    return this;
  }

  /** With an answer that does not depend on the request. */
  public Operation by(Supplier<Answer> answer) {
    return by((_, _) -> answer.get());
  }

  // What the row says

  /** The media types that its content may have; empty where it has no content. */
  List<String> contentTypes() {
    return contentTypes;
  }

  /** The longest content. */
  public int contentLimitBytes() {
    return contentLimitBytes;
  }

  /** The media type of a successful answer. */
  String answerType() {
    return answerType;
  }

  /** The record that the answer is written from; null if there is none. */
  @Nullable Class<?> document() {
    return document;
  }

  /** Whether somebody with that scope may ask. */
  boolean isFor(Scope given) {
    return scope == null || isForEveryScope || given.allows(scope);
  }

  /** Whether it is answered on the listener's own loop. */
  public boolean isImmediate() {
    return isImmediate;
  }

  /** The lane of an operation, or of a request for none. */
  public static Lane laneOf(@Nullable Operation operation) {
    return operation == null ? Lane.READS : operation.lane;
  }

  /** Whether it does nothing before its answer is waited for. */
  boolean isLater() {
    return waiting.getAsBoolean();
  }

  /** Whether it changes nothing. */
  boolean isSafe() {
    return method.equals("GET");
  }

  /** Answers a request by somebody who may make it. */
  Answer answer(AdminRequest request) throws InvalidRequest {
    Set<String> known = parameters.stream().map(Parameter::name).collect(Collectors.toSet());
    return handler.answer(request, known.isEmpty() ? Query.NONE : Query.of(request, known));
  }

  // Paths

  /** The parameters of a path that has the form of this one, or null. */
  @Nullable Map<String, String> match(String given) {
    // Whoever asks chooses the path: it is walked as far as this one goes, and not cut up.
    Map<String, String> found = new LinkedHashMap<>();
    int at = 0;
    for (String segment : segments) {
      if (at > given.length()) {
        return null;
      }
      int slash = given.indexOf('/', at);
      int end = slash < 0 ? given.length() : slash;
      String name = parameter(segment);
      String value = name == null ? "" : decoded(given.substring(at, end));
      if (name != null && !value.isEmpty()) {
        found.put(name, value);
      } else if (end - at != segment.length() || !given.startsWith(segment, at)) {
        return null;
      }
      at = end + 1;
    }
    return at > given.length() ? found : null;
  }

  /** The names of the parameters of the path, in order. */
  List<String> pathParameters() {
    List<String> names = new ArrayList<>();
    for (String segment : segments) {
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
