package io.kamille.core.client.h2;

import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a call of gRPC ended, as the last fields of its response say. Stateless. */
final class GrpcStatus {

  private static final String FIELD = "grpc-status";
  private static final String TYPE = "application/grpc";
  private static final int GREATEST = 254;

  private GrpcStatus() {}

  /**
   * Notes it for the access log.
   *
   * @param last the trailers of the response, or its head if nothing follows
   */
  static void note(RequestHead request, Fields last, @Nullable ExchangeNotes notes) {
    String type = notes == null ? null : request.fields().first(FieldName.CONTENT_TYPE);
    if (notes == null || type == null || !type.startsWith(TYPE)) {
      return;
    }
    List<String> values = last.all(FIELD);
    if (values.size() == 1) {
      notes.grpcStatus(number(values.getFirst()));
    }
  }

  private static int number(String text) {
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9' || number > GREATEST) {
        return ExchangeNotes.NO_GRPC_STATUS;
      }
      number = number * 10 + (c - '0');
    }
    return text.isEmpty() || number > GREATEST ? ExchangeNotes.NO_GRPC_STATUS : number;
  }
}
