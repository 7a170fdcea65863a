package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** {@code PUT /v1/connections}: the send buffer of one connection, for a while. */
final class ConnectionBuffer implements Resource {

  private static final String EXPECTED =
      "The content must be an object with number, a number, and sendBuffer and for, both strings.";
  private static final Set<String> MEMBERS = Set.of("number", "sendBuffer", "for");
  private static final ValueType<Optional<Long>> SIZE =
      ValueTypes.orWord("kernel", ValueTypes.size(4 << 10, 1 << 30));
  private static final ValueType<Duration> LASTING =
      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(1));

  private final BufferTuner tuner;

  ConnectionBuffer(BufferTuner tuner) {
    this.tuner = tuner;
  }

  @Override
  public Operation operation() {
    return Operation.put(
            Connections.PATH, Scope.OPERATE, "Fixes the send buffer of one connection for a while.")
        .answers(Held.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    JsonNode document = JsonContent.of(request);
    if (!document.isObject() || !Set.copyOf(document.propertyNames()).equals(MEMBERS)) {
      throw new InvalidRequest(EXPECTED);
    }
    JsonNode number = document.get("number");
    if (!number.isIntegralNumber() || !number.canConvertToLong()) {
      throw new InvalidRequest(EXPECTED);
    }
    long size = value("sendBuffer", document, SIZE).orElse(0L);
    Duration lasting = value("for", document, LASTING);
    return tuner.override(number.longValue(), size, lasting)
        ? Answer.json(new Held(number.longValue(), size, lasting.toSeconds()))
        : Answer.problem(StatusCode.NOT_FOUND, "No open connection with that number is tuned.");
  }

  /** A size of 0 leaves it to the kernel. */
  private record Held(long number, long sendBufferBytes, long seconds) {}

  private static <T> T value(String name, JsonNode document, ValueType<T> type)
      throws InvalidRequest {
    JsonNode node = document.get(name);
    if (!node.isString()) {
      throw new InvalidRequest(EXPECTED);
    }
    return JsonContent.value(name, node.stringValue(), type);
  }
}
