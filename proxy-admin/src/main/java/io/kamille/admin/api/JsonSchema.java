package io.kamille.admin.api;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON schema of what is written from a type. Stateless; any thread. */
final class JsonSchema {

  private JsonSchema() {}

  /** The schema of a record, a list, a map, a number, a text, an enum or a boolean. */
  static Map<String, Object> of(Type type) {
    return switch (type) {
      case ParameterizedType generic when generic.getRawType() == List.class ->
          schema("array", "items", of(generic.getActualTypeArguments()[0]));
      case ParameterizedType generic ->
          schema("object", "additionalProperties", of(generic.getActualTypeArguments()[1]));
      case Class<?> plain -> of(plain);
      default -> new LinkedHashMap<>();
    };
  }

  private static Map<String, Object> of(Class<?> type) {
    if (type.isRecord()) {
      return ofRecord(type);
    }
    if (type.isEnum()) {
      List<String> tokens =
          Arrays.stream(type.getEnumConstants())
              .map(each -> ((Enum<?>) each).name().toLowerCase(Locale.ROOT))
              .toList();
      return schema("string", "enum", tokens);
    }
    if (type == boolean.class || type == Boolean.class) {
      return schema("boolean");
    }
    if (type == double.class || type == Double.class) {
      return schema("number");
    }
    if (type.isPrimitive() || Number.class.isAssignableFrom(type)) {
      return schema("integer");
    }
    return type == String.class ? schema("string") : new LinkedHashMap<>();
  }

  private static Map<String, Object> ofRecord(Class<?> type) {
    Map<String, Object> properties = new LinkedHashMap<>();
    List<String> required = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      Map<String, Object> schema = of(component.getGenericType());
      if (isNullable(component.getAnnotatedType()) && schema.get("type") instanceof String one) {
        schema.put("type", List.of(one, "null"));
      }
      properties.put(component.getName(), schema);
      required.add(component.getName());
    }
    Map<String, Object> schema = schema("object", "properties", properties);
    schema.put("required", required);
    return schema;
  }

  private static boolean isNullable(AnnotatedType type) {
    for (Annotation annotation : type.getAnnotations()) {
      if (annotation.annotationType() == Nullable.class) {
        return true;
      }
    }
    return false;
  }

  private static Map<String, Object> schema(String type) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", type);
    return schema;
  }

  private static Map<String, Object> schema(String type, String name, Object value) {
    Map<String, Object> schema = schema(type);
    schema.put(name, value);
    return schema;
  }
}
