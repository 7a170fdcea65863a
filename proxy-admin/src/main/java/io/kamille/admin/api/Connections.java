package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.ConnectionOrder;
import io.kamille.admin.tuning.ConnectionSnapshot;
import io.kamille.admin.tuning.Estimate;
import io.kamille.core.socket.SendBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /v1/connections?sort=buffer|rate|pending&limit=}: connections to clients that wrote,
 * as the tuner last saw them, and why each has the send buffer it has.
 */
final class Connections implements Resource {

  static final String PATH = "/v1/connections";

  private static final Operation OPERATION =
      Operation.get(
              PATH,
              Scope.READ,
              "Connections that write, what their paths carry, what waits where, and why each has"
                  + " its send buffer.")
          .may("sort", "buffer, rate or pending, the greatest first; buffer if it is not there")
          .may("limit", "how many at the most; 100 if it is not there")
          .answers(Document.class);

  private static final int LIMIT = 100;
  private static final int MOST = 10_000;
  private static final double MICROS_PER_MILLI = 1000;

  private final BufferTuner tuner;

  Connections(BufferTuner tuner) {
    this.tuner = tuner;
  }

  @Override
  public Operation operation() {
    return OPERATION;
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    Query query = Query.of(request, OPERATION);
    return present(tuner, order(query.optional("sort")), query.number("limit", LIMIT, MOST));
  }

  private static ConnectionOrder order(@Nullable String token) throws InvalidRequest {
    if (token == null) {
      return ConnectionOrder.BUFFER;
    }
    for (ConnectionOrder each : ConnectionOrder.values()) {
      if (each.token().equals(token)) {
        return each;
      }
    }
    String orders =
        Arrays.stream(ConnectionOrder.values())
            .map(ConnectionOrder::token)
            .collect(Collectors.joining(", "));
    throw new InvalidRequest("The parameter sort must be one of " + orders + ".");
  }

  private static Answer present(BufferTuner tuner, ConnectionOrder order, int limit) {
    return Answer.json(
        new Document(
            tuner.settings().policy().token(),
            tuner.connections(order, limit).stream().map(Row::of).toList()));
  }

  private record Document(String policy, List<Row> connections) {}

  private record Row(
      long number,
      String client,
      String protocol,
      String congestionControl,
      double ageSeconds,
      Path path,
      long demandBytes,
      long allocationBytes,
      Buffer sendBuffer,
      Pending pending,
      String why) {

    static Row of(ConnectionSnapshot connection) {
      return new Row(
          connection.number(),
          connection.client(),
          connection.protocol(),
          connection.sample().control().token(),
          connection.ageSeconds(),
          Path.of(connection.estimate()),
          connection.estimate().demandBytes(),
          connection.partBytes(),
          Buffer.of(connection.buffer(), connection.grantedBytes()),
          Pending.of(connection),
          connection.why());
    }
  }

  private record Path(
      String basis,
      long bytesPerSecond,
      double rttMillis,
      double rtoMillis,
      double lossEventRate,
      double lossEvents,
      long deliveryRate,
      double receiverLimited,
      double senderLimited,
      double confidence) {

    static Path of(Estimate estimate) {
      return new Path(
          estimate.basis().name().toLowerCase(Locale.ROOT),
          (long) estimate.bytesPerSecond(),
          estimate.rttMicros() / MICROS_PER_MILLI,
          estimate.rtoMicros() / MICROS_PER_MILLI,
          estimate.lossEventRate(),
          estimate.lossEvents(),
          (long) estimate.deliveryRate(),
          estimate.receiverLimitedShare(),
          estimate.senderLimitedShare(),
          estimate.confidence());
    }
  }

  private record Buffer(
      long sizeBytes,
      long grantedBytes,
      long notSentLowWatermarkBytes,
      long lowWatermarkBytes,
      long highWatermarkBytes) {

    static Buffer of(SendBuffer buffer, int grantedBytes) {
      return new Buffer(
          buffer.sendBufferBytes(),
          grantedBytes,
          buffer.notSentLowWatermarkBytes(),
          buffer.lowWatermarkBytes(),
          buffer.highWatermarkBytes());
    }
  }

  private record Pending(
      long bufferedBytes, long leasedBytes, long fileBytes, long unsentBytes, long inFlightBytes) {

    static Pending of(ConnectionSnapshot connection) {
      return new Pending(
          connection.waiting().bufferedBytes(),
          connection.waiting().leasedBytes(),
          connection.waiting().fileBytes(),
          connection.sample().unsentBytes(),
          connection.sample().inFlightBytes());
    }
  }
}
