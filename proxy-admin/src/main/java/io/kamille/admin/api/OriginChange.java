package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * {@code PUT /v1/upstreams/{upstream}/origins/{origin}}: takes an origin out of service, or names
 * one for a time.
 */
final class OriginChange implements Resource {

  static final String PATH = "/v1/upstreams/{upstream}/origins/{origin}";
  private static final String EXPECTED =
      "The content must be an object with state, drain or in, and for drain with for, such as 10m."
          + " Or it has url and ttl, such as 30s, and may have weight and backup.";
  private static final Set<String> OF_LEASE = Set.of("url", "ttl", "weight", "backup");
  private static final ValueType<Duration> LASTING =
      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(1));

  private final ApplianceView appliance;

  OriginChange(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.put(
            PATH, Scope.OPERATE, "Adds an origin for a time, or drains one, or ends a drain.")
        .answers(Changed.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    Map<String, String> members = JsonContent.texts(request, EXPECTED, "weight");
    return members.containsKey("ttl") ? lease(request, members) : drain(request, members);
  }

  private Answer drain(AdminRequest request, Map<String, String> members) throws InvalidRequest {
    String lasting = members.getOrDefault("for", "");
    long seconds = 0;
    if (members.equals(Map.of("state", "drain", "for", lasting))) {
      seconds = seconds("for", lasting);
    } else if (!members.equals(Map.of("state", "in"))) {
      throw new InvalidRequest(EXPECTED);
    }
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    return switch (appliance.drain(upstream, origin, seconds)) {
      case DONE -> Answer.json(new Changed(upstream, origin, seconds));
      case UNKNOWN -> Answer.problem(StatusCode.NOT_FOUND, "There is no such origin.");
      case LAST -> conflict("No other origin of this upstream would get its requests.");
    };
  }

  private Answer lease(AdminRequest request, Map<String, String> members) throws InvalidRequest {
    if (!OF_LEASE.containsAll(members.keySet())) {
      throw new InvalidRequest(EXPECTED);
    }
    String text = members.getOrDefault("url", "");
    long seconds = seconds("ttl", members.getOrDefault("ttl", ""));
    String weight = members.getOrDefault("weight", "1");
    String backup = members.getOrDefault("backup", "off");
    OriginUrl url = JsonContent.value("url", text, OriginSettings.URL.type());
    OriginSettings named =
        new OriginSettings(
            url,
            JsonContent.value("weight", weight, OriginSettings.WEIGHT.type()),
            JsonContent.value("backup", backup, OriginSettings.BACKUP.type()));
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    if (!url.address().toString().equals(origin)) {
      throw new InvalidRequest("url: expected that of " + origin + ", as the path says.");
    }
    return switch (appliance.lease(upstream, named, seconds)) {
      case DONE -> Answer.json(new Changed(upstream, origin, seconds));
      case UNKNOWN -> Answer.problem(StatusCode.NOT_FOUND, "There is no such upstream.");
      case NAMED -> conflict("The configuration, a file or DNS names this origin.");
      case UNSUITED -> conflict("The protocol or the TLS of this upstream does not suit this URL.");
      case FULL -> conflict("This upstream has as many origins of the API as it may.");
    };
  }

  private static Answer conflict(String sentence) {
    return Answer.problem(StatusCode.CONFLICT, sentence);
  }

  private static long seconds(String name, String text) throws InvalidRequest {
    return JsonContent.value(name, text, LASTING).toSeconds();
  }

  /** For 0 seconds it is not drained. */
  private record Changed(String upstream, String origin, long seconds) {}
}
