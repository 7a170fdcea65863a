package io.kamille.admin.api;

import io.kamille.core.setting.ValueType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads the content of a request as JSON. Stateless; any thread. */
public final class Json {

  private Json() {}

  /**
   * The document that the content is.
   *
   * @throws InvalidRequest if it is none; the answer names the place
   */
  public static JsonNode content(AdminRequest request) throws InvalidRequest {
    try {
      return JsonMapping.MAPPER.readTree(request.content());
    } catch (JacksonException malformed) {
      throw new InvalidRequest(trouble(malformed.getLocation()));
    }
  }

  /**
   * The members of an object that has some, all of them strings.
   *
   * @throws InvalidRequest with the text {@code expected} if the content is something else
   */
  static Map<String, String> texts(AdminRequest request, String expected) throws InvalidRequest {
    return texts(request, expected, "");
  }

  /** The same, where the member of that name may be a number. */
  public static Map<String, String> texts(AdminRequest request, String expected, String number)
      throws InvalidRequest {
    JsonNode document = content(request);
    if (!document.isObject() || document.isEmpty()) {
      throw new InvalidRequest(expected);
    }
    Map<String, String> texts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> member : document.properties()) {
      boolean isNumber = member.getKey().equals(number) && member.getValue().isNumber();
      if (!isNumber && !member.getValue().isString()) {
        throw new InvalidRequest(expected);
      }
      texts.put(member.getKey(), member.getValue().asString());
    }
    return texts;
  }

  /**
   * The value of a member that a setting has, too.
   *
   * @throws InvalidRequest if {@code text} is none; the answer tells what is expected
   */
  public static <T> T value(String name, String text, ValueType<T> type) throws InvalidRequest {
    T value = type.parse(text);
    if (value == null) {
      throw new InvalidRequest(name + ": expected " + type.expected() + ".");
    }
    return value;
  }

  /**
   * A member that is a whole number from 1 to {@code most}, or {@code usual} if it is not there.
   *
   * @throws InvalidRequest with the text {@code expected} if it is something else
   */
  public static int number(JsonNode document, String name, int usual, int most, String expected)
      throws InvalidRequest {
    JsonNode value = document.path(name);
    if (value.isMissingNode()) {
      return usual;
    }
    if (!value.isInt() || value.intValue() < 1 || value.intValue() > most) {
      throw new InvalidRequest(expected);
    }
    return value.intValue();
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
