package io.kamille.perf.compare;

import io.kamille.perf.load.FaultyOrigin.Fault;
import java.util.OptionalDouble;

/**
 * What became of two routes while an origin of one of them failed, and afterwards.
 *
 * @param asked requests on the route with the faulty origin while it failed
 * @param failed of them, those not answered rightly
 * @param lastFailureSeconds after the beginning of the fault, the last of them was sent
 * @param outSeconds after the beginning, the origin got no more than probes
 * @param backSeconds after the end, it got its share again
 * @param failedAfter requests on that route that failed after the end
 * @param otherP99Before of the other route without a fault, in microseconds to the first octet
 * @param otherP99During the same while the origin failed
 * @param otherFailed requests on the other route that failed
 * @param isClientLimited whether the numbers say as much of the client
 */
record FaultSample(
    String server,
    Fault fault,
    int round,
    long asked,
    long failed,
    double lastFailureSeconds,
    OptionalDouble outSeconds,
    OptionalDouble backSeconds,
    long failedAfter,
    double otherP99Before,
    double otherP99During,
    long otherFailed,
    boolean isClientLimited) {

  double failedShare() {
    return asked == 0 ? 0 : (double) failed / asked;
  }

  double otherRatio() {
    return otherP99During / otherP99Before;
  }
}
