package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/** {@code GET /v1/openapi.json}: the API's description, made of the router's own declarations. */
final class OpenApi implements Resource {

  static final String PATH = "/v1/openapi.json";

  private final Supplier<List<Operation>> operations;
  private final String version;

  OpenApi(Supplier<List<Operation>> operations, String version) {
    this.operations = operations;
    this.version = version;
  }

  @Override
  public Operation operation() {
    return Operation.get(PATH, Scope.READ, "This API as an OpenAPI 3.1 document.");
  }

  @Override
  public Answer answer(AdminRequest request) {
    return Answer.json(document(operations.get(), version));
  }

  /** The document. */
  static Map<String, Object> document(List<Operation> operations, String version) {
    Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
    for (Operation operation : operations) {
      if (operation.path().equals("/") || operation.path().startsWith("/ui/")) {
        continue;
      }
      paths
          .computeIfAbsent(operation.path(), _ -> new LinkedHashMap<>())
          .put(operation.method().toLowerCase(Locale.ROOT), described(operation));
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
            ordered("Problem", JsonSchema.of(Problem.class))));
  }

  private static Map<String, Object> described(Operation operation) {
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("summary", operation.summary());
    described.put("operationId", id(operation));
    Scope scope = operation.scope();
    if (scope != null) {
      described.put("security", List.of(ordered("bearer", List.of(scope.token()))));
    }
    List<Object> parameters = parameters(operation);
    if (!parameters.isEmpty()) {
      described.put("parameters", parameters);
    }
    if (!operation.content().types().isEmpty()) {
      Map<String, Object> content = new LinkedHashMap<>();
      operation.content().types().forEach(type -> content.put(type, Map.of()));
      described.put("requestBody", ordered("required", true, "content", content));
    }
    Class<?> answer = operation.result().document();
    Map<String, Object> schema =
        answer == null ? Map.of() : ordered("schema", JsonSchema.of(answer));
    described.put(
        "responses",
        ordered(
            "2XX",
            ordered("description", "Done.", "content", ordered(operation.result().type(), schema)),
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
    for (String name : new PathTemplate(operation.path()).parameters()) {
      all.add(ordered("name", name, "in", "path", "required", true, "schema", text()));
    }
    for (Operation.Parameter parameter : operation.parameters()) {
      all.add(
          ordered(
              "name", parameter.name(),
              "in", "query",
              "required", parameter.isRequired(),
              "description", parameter.summary(),
              "schema", text()));
    }
    return all;
  }

  private static Map<String, Object> text() {
    return ordered("type", "string");
  }

  /** Such as {@code getCacheTiers}. */
  private static String id(Operation operation) {
    StringBuilder id = new StringBuilder(operation.method().toLowerCase(Locale.ROOT));
    for (String word : operation.path().split("[^A-Za-z0-9]+", -1)) {
      if (!word.isEmpty() && !word.equals("v1")) {
        id.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
      }
    }
    return id.toString();
  }

  private static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }

  /** What all problem documents have. */
  private record Problem(String type, String title, int status, String detail) {}
}
