package io.kamille.admin.api;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.Authenticator.Credentials;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.Peer;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.live.History;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.core.http.StatusCode;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All operations, and the rules that hold for every one: who may ask, and that changes are taken
 * down first. Looking up: any thread. Answering: confined to the lane of the operation.
 */
public final class OperationTable {

  /*
   * What a token may do is decided here, in refusalByScope: each operation names the scope that it
   * needs (Operation, in the files of resources), and Scope.allows says which scopes are enough.
   * Whose token it is, the Authenticator has said before.
   *
   * Health, readiness, metrics and the pages of the browser UI hold no secret and are for
   * everybody. Everything under /v1/ wants somebody who is known, also to say that it does not
   * exist.
   */
  private static final String PROTECTED = "/v1/";
  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final int SHOWN_LIMIT = 512;

  private final List<Operation> operations;
  private final String configuredHost;
  private final Authenticator authenticator;

  private final AuditLog audit;
  private final Supplier<String> origin;

  /** An operation and the parameters of the path that led to it. */
  private record Match(Operation operation, Map<String, String> parameters) {}

  /**
   * The operations of this appliance.
   *
   * @param version what the description is of
   * @param more operations beside those that need nothing but the control plane
   * @param configuredHost a name besides localhost and addresses that requests may be for
   * @param origin such as {@code http://127.0.0.1:9090}, where browsers find this API
   */
  public OperationTable(
      String version,
      List<Operation> more,
      PrometheusText metrics,
      History history,
      Authenticator authenticator,
      AuditLog audit,
      String configuredHost,
      Supplier<String> origin) {
    List<Operation> all = new ArrayList<>();
    all.addAll(ProcessResources.of(metrics));
    all.addAll(more);
    all.addAll(HistoryResources.of(history));
    all.addAll(new AccessResources(authenticator, audit, origin).operations());
    all.addAll(UiFiles.all());
    all.add(
        Operation.get("/v1/openapi.json", Scope.READ, "This API as an OpenAPI 3.1 document.")
            .by(() -> Answer.json(OpenApi.document(all, version))));
    this.operations = List.copyOf(all);
    this.configuredHost = configuredHost;
    this.authenticator = authenticator;
    this.audit = audit;
    this.origin = origin;
  }

  /** The operation that a request is for, or null if there is none. */
  public @Nullable Operation find(AdminRequest request) {
    return matches(request.path()).stream()
        .map(Match::operation)
        .filter(operation -> operation.method.equals(request.effectiveMethod()))
        .findFirst()
        .orElse(null);
  }

  private List<Match> matches(String path) {
    List<Match> found = new ArrayList<>();
    for (Operation operation : operations) {
      Map<String, String> parameters = operation.match(path);
      if (parameters != null) {
        found.add(new Match(operation, parameters));
      }
    }
    return found;
  }

  /** Answers one request. */
  public Answer answer(AdminRequest request) {
    if (request.hosts().size() > 1) {
      return Answer.problem(StatusCode.BAD_REQUEST, "There is more than one Host field.");
    }
    if (request.peer() instanceof Peer.Network
        && !request.hosts().stream().allMatch(this::isOurs)) {
      return Answer.problem(
          StatusCode.MISDIRECTED_REQUEST,
          "The Host field must be localhost, an IP address or the configured address.");
    }
    Credentials credentials = credentials(request);
    Identity identity = null;
    if (request.path().startsWith(PROTECTED)) {
      identity = authenticator.identify(credentials);
      if (identity == null && !isForEverybody(request)) {
        return unauthorized(request, credentials);
      }
    }
    return route(request.by(identity));
  }

  /** Whether the token or the session that a request came with still holds. */
  public boolean isKnown(AdminRequest request) {
    return authenticator.identify(credentials(request)) != null;
  }

  private boolean isForEverybody(AdminRequest request) {
    Operation operation = find(request);
    return operation != null && operation.scope == null;
  }

  private Answer route(AdminRequest request) {
    List<Match> matches = matches(request.path());
    if (matches.isEmpty()) {
      return Answer.problem(StatusCode.NOT_FOUND, "There is no such resource.");
    }
    for (Match match : matches) {
      if (match.operation.method.equals(request.effectiveMethod())) {
        return answer(match.operation, request.with(match.parameters));
      }
    }
    return Answer.problem(StatusCode.METHOD_NOT_ALLOWED, "This resource does not have that method.")
        .with("Allow", allowed(matches));
  }

  private Answer answer(Operation operation, AdminRequest request) {
    Answer refusal = refusalByScope(operation, request.identity());
    if (refusal == null) {
      refusal = refusalOfSession(operation, request);
    }
    if (refusal != null) {
      if (!operation.isSafe()) {
        audit.refused(
            request.identity(), action(operation), shortened(target(request)), refusal.status());
      }
      return refusal;
    }
    if (!operation.contentTypes().isEmpty()
        && operation.contentTypes().stream().noneMatch(type -> isOfType(request, type))) {
      return Answer.problem(
          StatusCode.UNSUPPORTED_MEDIA_TYPE,
          "The content must be " + String.join(" or ", operation.contentTypes()) + ".");
    }
    boolean isTakenDown = !operation.isSafe() && operation.scope != null;
    return isTakenDown ? audited(operation, request) : done(operation, request);
  }

  /** Why somebody may not do that with the token they have; null if they may. */
  private static @Nullable Answer refusalByScope(Operation operation, @Nullable Identity identity) {
    Scope needed = operation.scope;
    return needed == null || (identity != null && operation.isFor(identity.scope()))
        ? null
        : Answer.problem(StatusCode.FORBIDDEN, "This needs the scope " + needed.token() + ".");
  }

  /**
   * A page of another origin cannot read our key, and still may not change anything with it.
   * Browsers name the origin of every change (Fetch standard, "append a request Origin header").
   */
  private @Nullable Answer refusalOfSession(Operation operation, AdminRequest request) {
    Identity identity = request.identity();
    if (operation.isSafe() || identity == null || identity.via() != Identity.Via.SESSION) {
      return null;
    }
    String scheme = origin.get().startsWith("https:") ? "https://" : "http://";
    String host = request.hosts().isEmpty() ? "" : request.hosts().getFirst();
    if (!(scheme + host).equalsIgnoreCase(request.field("Origin"))) {
      return Answer.problem(
          StatusCode.FORBIDDEN, "Changes are taken from pages of this origin only.");
    }
    boolean isSignOut = request.path().equals("/v1/session");
    return identity.isRecentlyProven() || isSignOut
        ? null
        : Answer.problem(
            ProblemType.PROOF_NEEDED,
            "Show your token again: the last time was more than 15 minutes ago.",
            List.of());
  }

  private static boolean isOfType(AdminRequest request, String expected) {
    String contentType = request.field("Content-Type");
    if (contentType == null) {
      return false;
    }
    int end = contentType.indexOf(';');
    String mediaType = end < 0 ? contentType : contentType.substring(0, end);
    return mediaType.strip().equalsIgnoreCase(expected);
  }

  /** Takes a change down, makes it, and takes its outcome down. */
  private Answer audited(Operation operation, AdminRequest request) {
    if (!operation.isLater()) {
      return audited(operation, request, () -> done(operation, request));
    }
    Answer prepared = done(operation, request);
    return Answer.later(() -> audited(operation, request, () -> prepared).awaited());
  }

  private Answer audited(Operation operation, AdminRequest request, Supplier<Answer> change) {
    try {
      AuditLog.awaited(takeDown(operation, request, "begun"));
    } catch (IOException full) {
      LOGGER.log(
          System.Logger.Level.ERROR, "the audit log cannot be written: " + full.getMessage());
      Identity identity = request.identity();
      if (identity == null || identity.via() != Identity.Via.SOCKET) {
        return Answer.problem(
            ProblemType.AUDIT_UNWRITABLE,
            "Nothing was changed. Make room on the disk, or use the local socket.",
            List.of());
      }
    }
    return change
        .get()
        .then(
            answer -> {
              var _ =
                  takeDown(operation, request, Integer.toString(answer.status()))
                      .exceptionally(
                          full -> {
                            LOGGER.log(
                                System.Logger.Level.ERROR,
                                "the audit log lacks an outcome: " + full.getMessage());
                            return 0L;
                          });
            });
  }

  private CompletableFuture<Long> takeDown(
      Operation operation, AdminRequest request, String outcome) {
    return audit.append(
        request.identity(),
        action(operation),
        shortened(target(request)),
        order(operation, request),
        outcome,
        operation.isLater());
  }

  /** The versions have what a configuration was changed to; it may hold secrets. */
  private static String order(Operation operation, AdminRequest request) {
    return operation.contentTypes().equals(List.of(Operation.JSON))
        ? shortened(request.text())
        : "";
  }

  private static String action(Operation operation) {
    return operation.method + " " + operation.path;
  }

  private static String target(AdminRequest request) {
    return request.query() == null ? request.path() : request.path() + "?" + request.query();
  }

  private static String shortened(String text) {
    return text.length() <= SHOWN_LIMIT ? text : text.substring(0, SHOWN_LIMIT - 1) + "…";
  }

  private static Answer done(Operation operation, AdminRequest request) {
    try {
      return operation.answer(request);
    } catch (InvalidRequest invalid) {
      return invalid.answer();
    } catch (RuntimeException | Error bug) {
      return failed(request, bug);
    }
  }

  /** What somebody is told of a fault of ours. */
  public static Answer failed(AdminRequest request, Throwable bug) {
    try {
      LOGGER.log(System.Logger.Level.ERROR, request.method() + " " + target(request), bug);
    } catch (RuntimeException | Error unsaid) {
      // The same again, such as a full heap: the answer comes first.
    }
    return Answer.problem(StatusCode.INTERNAL_SERVER_ERROR, "The log says why.");
  }

  private static String allowed(List<Match> matches) {
    return matches.stream()
        .map(match -> match.operation.method)
        .sorted()
        .map(method -> method.equals("GET") ? "GET, HEAD" : method)
        .collect(Collectors.joining(", "));
  }

  /** RFC 6750 §3: no error code for a request that brought no token. */
  private Answer unauthorized(AdminRequest request, Credentials credentials) {
    String challenge = "Bearer realm=\"kamille\"";
    if (!credentials.isAny()) {
      return Answer.problem(
              StatusCode.UNAUTHORIZED, "A bearer token is needed; it is in the token file.")
          .with("WWW-Authenticate", challenge);
    }
    audit.wrongSecret(request.peer());
    if (authenticator.isTooOften(request.peer())) {
      return Answer.problem(
              StatusCode.TOO_MANY_REQUESTS, "Too many wrong tokens; try again in a minute.")
          .with("Retry-After", "60");
    }
    return Answer.problem(StatusCode.UNAUTHORIZED, "The bearer token is wrong.")
        .with("WWW-Authenticate", challenge + ", error=\"invalid_token\"");
  }

  private static Credentials credentials(AdminRequest request) {
    return new Credentials(
        request.peer(),
        request.field("Authorization"),
        request.cookie(),
        request.field("X-Kamille-Key"));
  }

  /**
   * Whether a {@code Host} value names this machine, on any port. A page from elsewhere can have
   * its own name resolved to our address and then read our answers as its own (DNS rebinding).
   * Names it can do that with are refused; addresses, and names that always mean this machine, it
   * cannot.
   */
  private boolean isOurs(String value) {
    String host = withoutPort(value).toLowerCase(Locale.ROOT);
    return host.equals("localhost")
        || host.equalsIgnoreCase(configuredHost)
        || NetUtil.isValidIpV4Address(host)
        || isBracketedIpV6Address(host);
  }

  private static String withoutPort(String value) {
    int colon = value.lastIndexOf(':');
    boolean isPort =
        colon > value.lastIndexOf(']')
            && value.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
    return isPort ? value.substring(0, colon) : value;
  }

  private static boolean isBracketedIpV6Address(String host) {
    return host.startsWith("[")
        && host.endsWith("]")
        && NetUtil.isValidIpV6Address(host.substring(1, host.length() - 1));
  }
}
