package io.kamille.admin.api;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.NamedTokens;
import io.kamille.admin.auth.NamedTokens.Token;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.auth.Sessions.Opened;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Who may use the API, who is signed in, and who changed what.
 *
 * @param origin such as {@code http://127.0.0.1:9090}, where browsers find this API
 */
record AccessResources(Authenticator authenticator, AuditLog audit, Supplier<String> origin) {

  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final String SESSION = "/v1/session";
  private static final String TOKENS = "/v1/tokens";
  private static final String EXPECTED_PROOF =
      "The content must be an object with token or code, a string.";
  private static final String EXPECTED_TOKEN =
      "The content must be an object with name (a string), scope (read, operate, admin or purge)"
          + " and perhaps days (1 to 366).";
  private static final int USUAL_DAYS = 90;
  private static final int MOST_DAYS = 366;
  private static final int ENTRIES = 100;
  private static final int MOST_ENTRIES = 1000;

  List<Operation> operations() {
    return List.of(
        Operation.get("/v1/audit", Scope.READ, "Changes and their authors, the newest first.")
            .may("limit", "How many entries, at most 1000.")
            .by(this::entries),
        Operation.openPost(
                SESSION,
                "Signs a browser in with a token, or with a code that was given to somebody.")
            .by((request, _) -> signIn(request)),
        Operation.get(SESSION, Scope.READ, "The caller, and what they may do.")
            .answers(Person.class)
            .by((request, _) -> Answer.json(Person.of(request.identity()))),
        Operation.delete(SESSION, Scope.READ, "Signs this browser out. Every scope may.")
            .forEveryScope()
            .by((request, _) -> signOut(request)),
        Operation.post(
                "/v1/session/codes",
                Scope.READ,
                "A code for one sign-in of a browser, within a minute.")
            .takes()
            .by((request, _) -> code(request.identity())),
        Operation.get(TOKENS, Scope.ADMIN, "All named tokens, without their secrets.")
            .answers(Tokens.class)
            .by(
                () ->
                    Answer.json(
                        new Tokens(
                            authenticator.tokens().list().stream().map(Shown::of).toList()))),
        Operation.post(
                TOKENS,
                Scope.ADMIN,
                "Makes a named token. Its secret is in this answer and nowhere else.")
            .laterWhile(() -> authenticator.tokens().cluster() != null)
            .by((request, _) -> create(Json.content(request, NewToken.class, EXPECTED_TOKEN))),
        Operation.delete("/v1/tokens/{id}", Scope.ADMIN, "Revokes a token; its sessions end too.")
            .by((request, _) -> revoke(request.parameter("id"))));
  }

  // Sessions

  private Answer signIn(AdminRequest request) throws InvalidRequest {
    Identity owner = owner(request, Json.content(request, Proof.class, EXPECTED_PROOF));
    if (owner == null) {
      return refused(request);
    }
    try {
      audit.append(owner, "POST " + SESSION, SESSION, "", "200");
    } catch (IOException full) {
      // A sign-in changes nothing that outlives the process; a full disk must keep nobody out.
      LOGGER.log(System.Logger.Level.WARNING, "a sign-in is not in the audit log", full);
    }
    Opened opened = authenticator.sessions().open(owner);
    return Answer.json(
            Map.of(
                "key", opened.key(),
                "name", owner.name(),
                "scope", owner.scope(),
                "expires", Instant.ofEpochSecond(opened.expiresEpochSeconds()).toString()))
        .with(
            "Set-Cookie",
            request.cookieName()
                + "="
                + opened.cookie()
                + "; Path=/; HttpOnly; SameSite=Strict"
                + (origin.get().startsWith("https:") ? "; Secure" : ""));
  }

  private record Proof(@Nullable String token, @Nullable String code) {}

  private @Nullable Identity owner(AdminRequest request, Proof proof) throws InvalidRequest {
    if (proof.code == null) {
      return authenticator.byToken("Bearer " + proof.token, request.peer().address());
    }
    if (proof.token != null) {
      throw new InvalidRequest(EXPECTED_PROOF);
    }
    return authenticator.sessions().redeem(proof.code);
  }

  private Answer refused(AdminRequest request) {
    audit.wrongSecret(request.peer());
    if (authenticator.isTooOften(request.peer())) {
      return Answer.problem(
              StatusCode.TOO_MANY_REQUESTS, "Too many failures; try again in a minute.")
          .with("Retry-After", "60");
    }
    return Answer.problem(StatusCode.UNAUTHORIZED, "The token or the code is wrong or over.");
  }

  private record Person(
      String id, String name, Scope scope, Identity.Via via, boolean recentlyProven) {
    static Person of(@Nullable Identity identity) {
      if (identity == null) {
        throw new IllegalStateException("nobody");
      }
      return new Person(
          identity.id(),
          identity.name(),
          identity.scope(),
          identity.via(),
          identity.isRecentlyProven());
    }
  }

  private Answer signOut(AdminRequest request) {
    String cookie = request.cookie();
    if (cookie != null) {
      authenticator.sessions().close(cookie);
    }
    return Answer.json(Map.of("signedOut", true))
        .with(
            "Set-Cookie", request.cookieName() + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
  }

  private Answer code(@Nullable Identity identity) {
    if (identity == null || identity.via() == Identity.Via.SESSION) {
      return Answer.problem(
          StatusCode.FORBIDDEN, "A code is given for a token or by the local socket.");
    }
    String code = authenticator.sessions().code(identity);
    return Answer.json(Map.of("code", code, "url", origin.get() + "/#code=" + code));
  }

  // Tokens

  private record Tokens(List<Shown> tokens) {}

  /** What the API says of a token: never its digest. */
  private record Shown(
      String id,
      String name,
      Scope scope,
      String created,
      String expires,
      @Nullable String lastUsed) {

    static Shown of(Token token) {
      return new Shown(
          token.id(),
          token.name(),
          token.scope(),
          text(token.createdEpochSeconds()),
          text(token.expiresEpochSeconds()),
          token.usedEpochSeconds() == 0 ? null : text(token.usedEpochSeconds()));
    }

    private static String text(long epochSeconds) {
      return Instant.ofEpochSecond(epochSeconds).toString();
    }
  }

  private record NewToken(@Nullable String name, @Nullable String scope, @Nullable Integer days) {}

  private Answer create(NewToken asked) throws InvalidRequest {
    String name = asked.name;
    Scope scope =
        ValueTypes.oneOf(Scope.values()).parse(Objects.requireNonNullElse(asked.scope, ""));
    if (name == null || scope == null) {
      throw new InvalidRequest(EXPECTED_TOKEN);
    }
    int days = Json.number(asked.days, USUAL_DAYS, MOST_DAYS, EXPECTED_TOKEN);
    try {
      NamedTokens tokens = authenticator.tokens();
      NamedTokens.Created created = tokens.make(name, scope, Duration.ofDays(days));
      Token token = created.token();
      Map<String, Object> answer = Map.of("token", created.secret(), "of", Shown.of(token));
      SharedValues nodes = tokens.cluster();
      if (nodes != null) {
        return Answer.later(
            () -> {
              Answer made = everywhere(nodes, token.id(), token, StatusCode.CREATED, answer);
              Thread.startVirtualThread(
                  () -> tokens.expired(nodes).forEach(id -> endExpired(nodes, id)));
              return made;
            });
      }
      tokens.add(token);
      return Answer.json(StatusCode.CREATED, answer);
    } catch (IllegalArgumentException refused) {
      throw new InvalidRequest(String.valueOf(refused.getMessage()));
    } catch (IOException full) {
      return Answer.problem(StatusCode.SERVICE_UNAVAILABLE, "The token cannot be written down.");
    }
  }

  /** Makes a token, or ends it, at all nodes. Waits for them. */
  private static Answer everywhere(
      SharedValues nodes, String id, @Nullable Token token, int status, Map<String, Object> of) {
    try {
      Map<String, Boolean> known = NamedTokens.share(nodes, id, token);
      Map<String, Object> answer = new LinkedHashMap<>(of);
      answer.put(
          "nodes",
          known.entrySet().stream()
              .map(each -> new AtNode(each.getKey(), each.getValue() ? "done" : "away"))
              .toList());
      return Answer.json(known.containsValue(false) ? StatusCode.ACCEPTED : status, answer);
    } catch (IOException unknown) {
      return Answer.problem(
          ProblemType.NO_QUORUM,
          "It may be done later, so look at the list: " + unknown.getMessage() + ".",
          List.of());
    }
  }

  private static void endExpired(SharedValues nodes, String id) {
    try {
      NamedTokens.share(nodes, id, null);
    } catch (IOException notNow) {
      LOGGER.log(System.Logger.Level.DEBUG, "an expired token stays in the log for now", notNow);
    }
  }

  private record AtNode(String node, String state) {}

  private Answer revoke(String id) {
    authenticator.sessions().closeAllOf(id);
    SharedValues nodes = authenticator.tokens().cluster();
    if (nodes != null && authenticator.tokens().isShared(id)) {
      return Answer.later(() -> everywhere(nodes, id, null, StatusCode.OK, Map.of("revoked", id)));
    }
    try {
      return authenticator.tokens().revoke(id)
          ? Answer.json(Map.of("revoked", id))
          : Answer.problem(StatusCode.NOT_FOUND, "There is no such token.");
    } catch (IOException full) {
      return Answer.problem(
          StatusCode.SERVICE_UNAVAILABLE,
          "The token is revoked for this process, but that cannot be written down.");
    }
  }

  // The audit log

  private Answer entries(AdminRequest request, Query query) throws InvalidRequest {
    List<Map<String, Object>> entries =
        audit.last(query.number("limit", ENTRIES, MOST_ENTRIES)).stream()
            .map(entry -> shown(entry, request))
            .toList();
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
