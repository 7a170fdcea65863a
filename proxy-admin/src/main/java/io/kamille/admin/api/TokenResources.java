package io.kamille.admin.api;

import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.NamedTokens;
import io.kamille.admin.auth.NamedTokens.Token;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/tokens}: who may use the API. */
final class TokenResources {

  private static final String PATH = "/v1/tokens";
  private static final Duration LIFETIME = Duration.ofDays(90);
  private static final String EXPECTED =
      "The content must be an object with name (a string), scope (read, operate, admin or purge)"
          + " and perhaps days (1 to 366).";

  private TokenResources() {}

  static List<Resource> of(Authenticator authenticator) {
    return List.of(
        new Listed(authenticator), new Creation(authenticator), new Revocation(authenticator));
  }

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

  private record All(List<Shown> tokens) {}

  /** {@code GET}: all tokens. */
  private record Listed(Authenticator authenticator) implements Resource {

    @Override
    public Operation operation() {
      return Operation.get(PATH, Scope.ADMIN, "All named tokens, without their secrets.")
          .answers(All.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
      return Answer.json(new All(authenticator.tokens().list().stream().map(Shown::of).toList()));
    }
  }

  /** {@code POST}: a new token. */
  private record Creation(Authenticator authenticator) implements Resource {

    @Override
    public Operation operation() {
      return Operation.post(
          PATH, Scope.ADMIN, "Makes a named token. Its secret is in this answer and nowhere else.");
    }

    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      JsonNode document = JsonContent.of(request);
      boolean hasOthers =
          document.properties().stream()
              .anyMatch(member -> !List.of("name", "scope", "days").contains(member.getKey()));
      if (!document.isObject() || hasOthers || !document.path("name").isString()) {
        throw new InvalidRequest(EXPECTED);
      }
      try {
        NamedTokens.Created created =
            authenticator
                .tokens()
                .create(document.path("name").stringValue(), scope(document), lifetime(document));
        return Answer.json(
            StatusCode.CREATED, Map.of("token", created.secret(), "of", Shown.of(created.token())));
      } catch (IllegalArgumentException refused) {
        throw new InvalidRequest(String.valueOf(refused.getMessage()));
      } catch (IOException full) {
        return Answer.problem(StatusCode.SERVICE_UNAVAILABLE, "The token cannot be written down.");
      }
    }

    private static Scope scope(JsonNode document) throws InvalidRequest {
      for (Scope scope : Scope.values()) {
        if (scope.token().equals(document.path("scope").stringValue(""))) {
          return scope;
        }
      }
      throw new InvalidRequest(EXPECTED);
    }

    private static Duration lifetime(JsonNode document) throws InvalidRequest {
      JsonNode days = document.path("days");
      if (days.isMissingNode()) {
        return LIFETIME;
      }
      if (!days.isInt()) {
        throw new InvalidRequest(EXPECTED);
      }
      return Duration.ofDays(days.intValue());
    }
  }

  /** {@code DELETE}: ends a token at once. */
  private record Revocation(Authenticator authenticator) implements Resource {

    @Override
    public Operation operation() {
      return Operation.delete(
          PATH + "/{id}", Scope.ADMIN, "Revokes a token; its sessions end too.");
    }

    @Override
    public Answer answer(AdminRequest request) {
      String id = request.parameter("id");
      authenticator.sessions().closeAllOf(id);
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
  }
}
