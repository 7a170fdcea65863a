package io.kamille.admin.api;

import static io.kamille.admin.api.Json.ordered;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.kamille.admin.auth.Scope;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The API's description, made of the router's own declarations and the records it answers. */
final class OpenApi {

  private OpenApi() {}

  /** The document. */
  static Map<String, Object> document(List<Operation> operations, String version) {
    Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
    for (Operation operation : operations) {
      if (operation.path.equals("/") || operation.path.startsWith("/ui/")) {
        continue;
      }
      paths
          .computeIfAbsent(operation.path, _ -> new LinkedHashMap<>())
          .put(operation.method.toLowerCase(Locale.ROOT), described(operation));
    }
    return ordered(
        "openapi",
        "3.1.0",
        "info",
        ordered("title", "Kamille's control plane", "version", version),
        "paths",
        paths,
        "components",
        ordered(
            "securitySchemes",
            ordered("bearer", ordered("type", "http", "scheme", "bearer")),
            "schemas",
            ordered("Problem", schema(Problem.class))));
  }

  private static Map<String, Object> described(Operation operation) {
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("summary", operation.summary);
    described.put("operationId", id(operation));
    Scope scope = operation.scope;
    if (scope != null) {
      described.put("security", List.of(ordered("bearer", List.of(scope.token()))));
    }
    List<Object> parameters = parameters(operation);
    if (!parameters.isEmpty()) {
      described.put("parameters", parameters);
    }
    if (!operation.contentTypes().isEmpty()) {
      Map<String, Object> content = new LinkedHashMap<>();
      operation.contentTypes().forEach(type -> content.put(type, Map.of()));
      described.put("requestBody", ordered("required", true, "content", content));
    }
    Class<?> answer = operation.document();
    Map<String, Object> schema = answer == null ? Map.of() : ordered("schema", schema(answer));
    described.put(
        "responses",
        ordered(
            "2XX",
            ordered("description", "Done.", "content", ordered(operation.answerType(), schema)),
            "default",
            ordered(
                "description",
                "Why not (RFC 9457).",
                "content",
                ordered(
                    "application/problem+json",
                    ordered("schema", ordered("$ref", "#/components/schemas/Problem"))))));
    return described;
  }

  private static List<Object> parameters(Operation operation) {
    List<Object> all = new ArrayList<>();
    for (String name : operation.pathParameters()) {
      all.add(
          ordered(
              "name", name, "in", "path", "required", true, "schema", ordered("type", "string")));
    }
    for (Operation.Parameter parameter : operation.parameters) {
      all.add(
          ordered(
              "name", parameter.name(),
              "in", "query",
              "required", parameter.isRequired(),
              "description", parameter.summary(),
              "schema", ordered("type", "string")));
    }
    return all;
  }

  /** Such as {@code getCacheTiers}. */
  private static String id(Operation operation) {
    StringBuilder id = new StringBuilder(operation.method.toLowerCase(Locale.ROOT));
    for (String word : operation.path.split("[^A-Za-z0-9]+", -1)) {
      if (!word.isEmpty() && !word.equals("v1")) {
        id.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
      }
    }
    return id.toString();
  }

  /** The schema of a record, a list, a map, a number, a text, an enum or a boolean. */
  private static Map<String, Object> schema(Type type) {
    return switch (type) {
      case ParameterizedType generic when generic.getRawType() == List.class ->
          ordered("type", "array", "items", schema(generic.getActualTypeArguments()[0]));
      case ParameterizedType generic ->
          ordered(
              "type",
              "object",
              "additionalProperties",
              schema(generic.getActualTypeArguments()[1]));
      case Class<?> plain -> ofClass(plain);
      default -> new LinkedHashMap<>();
    };
  }

  private static Map<String, Object> ofClass(Class<?> type) {
    if (type.isRecord()) {
      Map<String, Object> properties = properties(type);
      List<String> names = List.copyOf(properties.keySet());
      return ordered("type", "object", "properties", properties, "required", names);
    }
    if (type.isEnum()) {
      List<String> tokens =
          Arrays.stream(type.getEnumConstants())
              .map(each -> ((Enum<?>) each).name().toLowerCase(Locale.ROOT))
              .toList();
      return ordered("type", "string", "enum", tokens);
    }
    if (type == boolean.class || type == Boolean.class) {
      return ordered("type", "boolean");
    }
    if (type == double.class || type == Double.class) {
      return ordered("type", "number");
    }
    if (type.isPrimitive() || Number.class.isAssignableFrom(type)) {
      return ordered("type", "integer");
    }
    return type == String.class || type == Instant.class
        ? ordered("type", "string")
        : new LinkedHashMap<>();
  }

  /** The members of what is written from a record. */
  private static Map<String, Object> properties(Class<?> type) {
    Map<String, Object> properties = new LinkedHashMap<>();
    for (RecordComponent component : type.getRecordComponents()) {
      if (component.getAccessor().isAnnotationPresent(JsonIgnore.class)) {
        continue;
      }
      if (component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
        properties.putAll(properties(component.getType()));
        continue;
      }
      Map<String, Object> schema = schema(component.getGenericType());
      if (isNullable(component.getAnnotatedType()) && schema.get("type") instanceof String one) {
        schema.put("type", List.of(one, "null"));
      }
      properties.put(component.getName(), schema);
    }
    return properties;
  }

  private static boolean isNullable(AnnotatedType type) {
    for (Annotation annotation : type.getAnnotations()) {
      if (annotation.annotationType() == Nullable.class) {
        return true;
      }
    }
    return false;
  }

  /** What all problem documents have. */
  private record Problem(String type, String title, int status, String detail) {}
}
