package io.kamille.admin.api;

import io.kamille.admin.auth.BearerToken;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;
import io.kamille.core.time.WallClock;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All resources by their path, and the rules that hold for every one. Confined to its loop. */
public final class ResourceTable {

  /*
   * Health, readiness and metrics are for machines that hold no secret; everything under /v1/ wants
   * the token, also to say that it does not exist.
   */
  private static final String PROTECTED = "/v1/";

  private final Map<String, Map<String, Resource>> resources;
  private final HostRule hosts;
  private final BearerToken token;

  /**
   * The resources of this appliance.
   *
   * @param configuredHost a name besides localhost and addresses that requests may be for
   */
  public ResourceTable(
      ApplianceView appliance,
      PrometheusText metrics,
      BearerToken token,
      String configuredHost,
      WallClock clock) {
    this.resources =
        List.of(
                new Health(),
                new Readiness(appliance),
                new Metrics(metrics),
                new Status(appliance, clock),
                new EngineLoops(appliance),
                new EnginePace(appliance),
                new CacheObjects(appliance),
                new CacheTiers(appliance),
                new CachePeak(appliance),
                new Explain(appliance),
                new Purges(appliance),
                new PurgeList(appliance))
            .stream()
            .collect(
                Collectors.groupingBy(
                    Resource::path, Collectors.toMap(Resource::method, Function.identity())));
    this.hosts = new HostRule(configuredHost);
    this.token = token;
  }

  /** Answers one request. */
  public Answer answer(AdminRequest request) {
    if (request.hosts().size() > 1) {
      return Answer.problem(StatusCode.BAD_REQUEST, "There is more than one Host field.");
    }
    if (!request.hosts().stream().allMatch(hosts::allows)) {
      return Answer.problem(
          StatusCode.MISDIRECTED_REQUEST,
          "The Host field must be localhost, an IP address or the configured address.");
    }
    if (request.path().startsWith(PROTECTED) && !token.isIn(request.authorization())) {
      return unauthorized(request.authorization());
    }
    Map<String, Resource> methods = resources.get(request.path());
    if (methods == null) {
      return Answer.problem(StatusCode.NOT_FOUND, "There is no such resource.");
    }
    Resource resource = methods.get(request.effectiveMethod());
    if (resource == null) {
      return Answer.problem(
          StatusCode.METHOD_NOT_ALLOWED,
          "This resource does not have that method.",
          Map.of("Allow", allowed(methods)));
    }
    return resource.answer(request);
  }

  private static String allowed(Map<String, Resource> methods) {
    return methods.keySet().stream()
        .sorted()
        .map(method -> method.equals("GET") ? "GET, HEAD" : method)
        .collect(Collectors.joining(", "));
  }

  /** RFC 6750 §3: no error code for a request that brought no token. */
  private static Answer unauthorized(@Nullable String authorization) {
    String challenge = "Bearer realm=\"kamille\"";
    return authorization == null
        ? Answer.problem(
            StatusCode.UNAUTHORIZED,
            "A bearer token is needed; it is in the token file.",
            Map.of("WWW-Authenticate", challenge))
        : Answer.problem(
            StatusCode.UNAUTHORIZED,
            "The bearer token is wrong.",
            Map.of("WWW-Authenticate", challenge + ", error=\"invalid_token\""));
  }
}
