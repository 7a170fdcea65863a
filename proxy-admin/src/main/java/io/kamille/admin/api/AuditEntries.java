package io.kamille.admin.api;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** {@code GET /v1/audit}: who changed what, the newest first. */
final class AuditEntries implements Resource {

  private static final int LIMIT = 1000;
  private static final int USUAL = 100;

  private final AuditLog audit;

  AuditEntries(AuditLog audit) {
    this.audit = audit;
  }

  @Override
  public Operation operation() {
    return Operation.get("/v1/audit", Scope.READ, "Changes and their authors, the newest first.")
        .may("limit", "How many entries, at most 1000.");
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    int limit = Query.of(request, operation()).number("limit", USUAL, LIMIT);
    List<Map<String, Object>> entries =
        audit.last(limit).stream().map(entry -> shown(entry, request)).toList();
    return Answer.json(Map.of("entries", entries, "head", audit.head()));
  }

  private static Map<String, Object> shown(Map<String, Object> entry, AdminRequest request) {
    Map<String, Object> shown = new LinkedHashMap<>(entry);
    for (String member : List.of("target", "order")) {
      shown.computeIfPresent(
          member,
          (name, value) ->
              request.shown(value instanceof JsonNode node ? node.asString() : value.toString()));
    }
    return shown;
  }
}
