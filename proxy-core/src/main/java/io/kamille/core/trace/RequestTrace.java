package io.kamille.core.trace;

import io.kamille.core.exchange.Trace;
import io.kamille.core.log.RequestSample;
import java.util.List;

/**
 * One exchange with its steps, when it was over. Immutable.
 *
 * @param request the exchange as a whole
 * @param startNanos when its head was complete, on the clock of the steps
 * @param steps in their order
 */
public record RequestTrace(
    RequestSample request,
    Trace.Ids ids,
    Trace.Cause cause,
    long startNanos,
    List<Trace.Mark> steps) {

  public RequestTrace {
    steps = List.copyOf(steps);
  }
}
