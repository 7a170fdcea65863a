package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Map;

/** {@code PUT /v1/upstreams/{upstream}/origins/{origin}}: takes an origin out of service. */
final class OriginDrain implements Resource {

  private static final String EXPECTED =
      "The content must be an object with state, drain or in, and for drain with for, such as 10m.";
  private static final ValueType<Duration> LASTING =
      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(1));

  private final ApplianceView appliance;

  OriginDrain(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.put(
            "/v1/upstreams/{upstream}/origins/{origin}",
            Scope.OPERATE,
            "Drains an origin for a while, or ends that.")
        .answers(Drained.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    Map<String, String> members = JsonContent.texts(request, EXPECTED);
    String lasting = members.getOrDefault("for", "");
    long seconds = 0;
    if (members.equals(Map.of("state", "drain", "for", lasting))) {
      seconds = JsonContent.value("for", lasting, LASTING).toSeconds();
    } else if (!members.equals(Map.of("state", "in"))) {
      throw new InvalidRequest(EXPECTED);
    }
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    return switch (appliance.drain(upstream, origin, seconds)) {
      case DONE -> Answer.json(new Drained(upstream, origin, seconds));
      case UNKNOWN -> Answer.problem(StatusCode.NOT_FOUND, "There is no such origin.");
      case LAST ->
          Answer.problem(
              StatusCode.CONFLICT, "No other origin of this upstream would get its requests.");
    };
  }

  /** For 0 seconds it is not drained. */
  private record Drained(String upstream, String origin, long seconds) {}
}
