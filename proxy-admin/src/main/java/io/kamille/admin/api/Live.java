package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;

/** {@code GET /v1/live}: the figures of each second, as long as somebody reads. */
final class Live implements Resource {

  @Override
  public Operation operation() {
    return Operation.get(
            "/v1/live",
            Scope.READ,
            "The figures of each second as server-sent events. Each event has all figures of its"
                + " second; what a client missed is in /v1/series, so Last-Event-ID counts for"
                + " nothing.")
        .answersAs(Answer.EVENT_STREAM);
  }

  /** The beginning of the stream; the handler adds each second. */
  @Override
  public Answer answer(AdminRequest request) {
    return Answer.of(StatusCode.OK, Answer.EVENT_STREAM, "retry: 2000\n\n");
  }
}
