package io.kamille.admin.api;

import io.kamille.core.setting.ValueType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads the content of a request as JSON. Stateless; any thread. */
public final class Json {

  private Json() {}

  /**
   * The content as a record: an object with some of its members, each of its type.
   *
   * @throws InvalidRequest with the text {@code expected} if the content is something else; with
   *     the place if it is no JSON
   */
  public static <T> T content(AdminRequest request, Class<T> type, String expected)
      throws InvalidRequest {
    JsonNode document;
    try {
      document = JsonMapping.MAPPER.readTree(request.content());
    } catch (JacksonException malformed) {
      throw new InvalidRequest(trouble(malformed.getLocation()));
    }
    try {
      if (document.isObject()
          && !document.isEmpty()
          && document
              .valueStream()
              .flatMap(each -> Stream.concat(Stream.of(each), each.valueStream()))
              .noneMatch(JsonNode::isNull)) {
        return JsonMapping.MAPPER.treeToValue(document, type);
      }
    } catch (JacksonException other) {
      // Some member is of another type, or none of ours.
    }
    throw new InvalidRequest(expected);
  }

  /**
   * The value of a member that a setting has, too.
   *
   * @throws InvalidRequest if {@code text} is none; the answer tells what is expected
   */
  public static <T> T value(String name, @Nullable String text, ValueType<T> type)
      throws InvalidRequest {
    T value = text == null ? null : type.parse(text);
    if (value == null) {
      throw new InvalidRequest(name + ": expected " + type.expected() + ".");
    }
    return value;
  }

  /**
   * A number from 1 to {@code most}, or {@code usual} if it is not there.
   *
   * @throws InvalidRequest with the text {@code expected} if it is another
   */
  public static int number(@Nullable Integer given, int usual, int most, String expected)
      throws InvalidRequest {
    int value = given == null ? usual : given;
    if (value < 1 || value > most) {
      throw new InvalidRequest(expected);
    }
    return value;
  }

  /** A document with these members in their order: a name, its value, the next name. */
  public static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }

  /** Says where reading ended; what is nested too deeply, or too long a number, has no place. */
  private static String trouble(@Nullable TokenStreamLocation place) {
    return place == null
        ? "The content is nested too deeply, or a name or number in it is too long."
        : "The content is not JSON: line "
            + place.getLineNr()
            + ", column "
            + place.getColumnNr()
            + ".";
  }
}
