package io.kamille.admin.api;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.AuditedRefusals;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.auth.Sessions.Opened;
import io.kamille.core.http.StatusCode;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/session}: signing a browser in and out, and who is signed in. */
final class SessionResources {

  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final String PATH = "/v1/session";
  private static final String EXPECTED =
      "The content must be an object with token or code, a string.";

  private SessionResources() {}

  /**
   * The resources.
   *
   * @param refusals where wrong tokens and codes are taken down
   * @param origin such as {@code http://127.0.0.1:9090}, where browsers find this API
   */
  static List<Resource> of(
      Authenticator authenticator,
      AuditLog audit,
      AuditedRefusals refusals,
      Supplier<String> origin) {
    return List.of(
        new SignIn(authenticator, audit, refusals, origin),
        new SignedIn(),
        new SignOut(authenticator),
        new SignInCode(authenticator, origin));
  }

  /** {@code POST}: takes a token or a code, gives a cookie and a key. */
  private record SignIn(
      Authenticator authenticator,
      AuditLog audit,
      AuditedRefusals refusals,
      Supplier<String> origin)
      implements Resource {

    @Override
    public Operation operation() {
      return Operation.openPost(
          PATH, "Signs a browser in with a token, or with a code that was given to somebody.");
    }

    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      Identity owner = owner(request, JsonContent.of(request));
      if (owner == null) {
        return refused(request);
      }
      note(owner);
      Opened opened = authenticator.sessions().open(owner);
      return Answer.json(
              Map.of(
                  "key", opened.key(),
                  "name", owner.name(),
                  "scope", owner.scope(),
                  "expires", Instant.ofEpochSecond(opened.expiresEpochSeconds()).toString()))
          .with(
              "Set-Cookie",
              SessionCookie.name(request)
                  + "="
                  + opened.cookie()
                  + "; Path=/; HttpOnly; SameSite=Strict"
                  + (origin.get().startsWith("https:") ? "; Secure" : ""));
    }

    private Answer refused(AdminRequest request) {
      refusals.wrongSecret(request.peer());
      if (authenticator.isTooOften(request.peer())) {
        return Answer.problem(
                StatusCode.TOO_MANY_REQUESTS, "Too many failures; try again in a minute.")
            .with("Retry-After", "60");
      }
      return Answer.problem(StatusCode.UNAUTHORIZED, "The token or the code is wrong or over.");
    }

    private void note(Identity owner) {
      try {
        audit.append(owner, "POST " + PATH, PATH, "", "200");
      } catch (IOException full) {
        // A sign-in changes nothing that outlives the process; a full disk must keep nobody out.
        LOGGER.log(System.Logger.Level.WARNING, "a sign-in is not in the audit log", full);
      }
    }

    private @Nullable Identity owner(AdminRequest request, JsonNode document)
        throws InvalidRequest {
      String address = request.peer().address();
      if (document.isObject() && document.size() == 1) {
        if (document.path("token").isString()) {
          return authenticator.byToken("Bearer " + document.path("token").stringValue(), address);
        }
        if (document.path("code").isString()) {
          return authenticator.sessions().redeem(document.path("code").stringValue());
        }
      }
      throw new InvalidRequest(EXPECTED);
    }
  }

  /** {@code GET}: who asks. */
  private record SignedIn() implements Resource {

    @Override
    public Operation operation() {
      return Operation.get(PATH, Scope.READ, "The caller, and what they may do.")
          .answers(Person.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
      Identity identity = request.identity();
      if (identity == null) {
        throw new IllegalStateException("nobody");
      }
      return Answer.json(
          new Person(
              identity.id(),
              identity.name(),
              identity.scope(),
              identity.via(),
              identity.isRecentlyProven()));
    }

    private record Person(
        String id, String name, Scope scope, Identity.Via via, boolean recentlyProven) {}
  }

  /** {@code DELETE}: ends the session of the browser that asks. */
  private record SignOut(Authenticator authenticator) implements Resource {

    @Override
    public Operation operation() {
      return Operation.delete(PATH, Scope.READ, "Signs this browser out.");
    }

    @Override
    public Answer answer(AdminRequest request) {
      String name = SessionCookie.name(request);
      String cookie = SessionCookie.value(request);
      if (cookie != null) {
        authenticator.sessions().close(cookie);
      }
      return Answer.json(Map.of("signedOut", true))
          .with("Set-Cookie", name + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    }
  }

  /**
   * {@code POST /v1/session/codes}: a code with which a browser can sign in as the one who asks.
   */
  private record SignInCode(Authenticator authenticator, Supplier<String> origin)
      implements Resource {

    @Override
    public Operation operation() {
      return Operation.post(
              PATH + "/codes", Scope.READ, "A code for one sign-in of a browser, within a minute.")
          .takes();
    }

    @Override
    public Answer answer(AdminRequest request) {
      Identity identity = request.identity();
      if (identity == null || identity.via() == Identity.Via.SESSION) {
        return Answer.problem(
            StatusCode.FORBIDDEN, "A code is given for a token or by the local socket.");
      }
      String code = authenticator.sessions().code(identity);
      return Answer.json(Map.of("code", code, "url", origin.get() + "/#code=" + code));
    }
  }
}
