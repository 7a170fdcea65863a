package io.kamille.core.http;

/** Media types whose content must go on as it comes. Stateless. */
public final class StreamType {

  private static final String GRPC = "application/grpc";
  private static final String EVENTS = "text/event-stream";

  private StreamType() {}

  /** Whether a message is one of gRPC. */
  public static boolean isGrpc(Fields fields) {
    return has(fields, GRPC);
  }

  /** Whether the content of a message is a stream: of gRPC, or of events for a browser. */
  public static boolean is(Fields fields) {
    return isGrpc(fields) || has(fields, EVENTS);
  }

  private static boolean has(Fields fields, String start) {
    String type = fields.first(FieldName.CONTENT_TYPE);
    return type != null && type.regionMatches(true, 0, start, 0, start.length());
  }
}
