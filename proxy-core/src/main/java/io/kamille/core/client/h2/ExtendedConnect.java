package io.kamille.core.client.h2;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.http.WebSocketKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers to a stream that is to become a WebSocket (RFC 8441). Stateless. */
final class ExtendedConnect {

  /*
   * The stations see an upgrade of HTTP/1.1, with a key of ours. So 101 becomes 200, if the origin
   * has read the key. No other success may pass: to this client it would say that its octets reach
   * a WebSocket now.
   */
  static final Failure NO_SWITCH = wrong("a success that does not switch to WebSocket");

  private ExtendedConnect() {}

  /**
   * Why the client must not get this final head; null if it may.
   *
   * @param isTunnel whether it asked for a WebSocket
   */
  static @Nullable Failure misfit(RequestHead request, ResponseHead head, boolean isTunnel) {
    int status = head.status();
    if (status == StatusCode.SWITCHING_PROTOCOLS) {
      if (!isTunnel) {
        return wrong("a switch of protocols nobody asked for");
      }
      return hasReadKey(request.fields(), head.fields())
          ? null
          : wrong("a switch to WebSocket without the answer to its key");
    }
    return isTunnel && status < StatusCode.MULTIPLE_CHOICES ? NO_SWITCH : null;
  }

  private static boolean hasReadKey(Fields request, Fields response) {
    List<String> keys = request.all(WebSocketKey.FIELD);
    return keys.size() == 1
        && response
            .all(WebSocketKey.ANSWER_FIELD)
            .equals(List.of(WebSocketKey.answer(keys.getFirst())));
  }

  /** What the client gets in the place of {@code switched}, which loses its answer to the key. */
  static ResponseHead accepted(ResponseHead switched) {
    switched.fields().remove(WebSocketKey.ANSWER_FIELD);
    return ResponseHead.of(StatusCode.OK, switched.fields());
  }

  private static Failure wrong(String what) {
    return Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, what);
  }
}
