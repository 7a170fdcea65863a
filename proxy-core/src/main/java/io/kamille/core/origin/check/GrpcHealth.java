package io.kamille.core.origin.check;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** The messages of {@code grpc.health.v1.Health}, as gRPC's health checking protocol has them. */
final class GrpcHealth {

  /*
   * A message stands behind five octets: 0 for not compressed, and its length in four.
   *
   *   HealthCheckRequest   { string service = 1 }           empty for the server as a whole
   *   HealthCheckResponse  { ServingStatus status = 1 }     08 status
   *
   * Other fields of a response are passed over.
   */
  static final String PATH = "/grpc.health.v1.Health/Check";

  private static final int PREFIX_BYTES = 5;
  private static final int STATUS_TAG = 0x08;
  private static final int SERVING = 1;
  private static final int MOST_VARINT_BYTES = 10;

  private GrpcHealth() {}

  /** The request for the server as a whole: it names no service. */
  static ByteBuf request() {
    return Unpooled.buffer(PREFIX_BYTES).writeZero(PREFIX_BYTES);
  }

  /**
   * What is wrong with an answer, empty for nothing.
   *
   * @param content all of it; borrowed
   * @param grpcStatus as the trailers say it, null if they do not
   */
  static String trouble(ByteBuf content, @Nullable String grpcStatus) {
    if (!"0".equals(grpcStatus)) {
      return grpcStatus == null ? "no grpc-status" : "grpc-status " + grpcStatus;
    }
    if (content.readableBytes() < PREFIX_BYTES
        || content.readByte() != 0
        || content.readInt() != content.readableBytes()) {
      return "no message of grpc.health.v1";
    }
    try {
      return words(status(content));
    } catch (IndexOutOfBoundsException cutShort) {
      return "a malformed message";
    }
  }

  private static String words(long status) {
    return switch (Math.clamp(status, 0, 4)) {
      case 0 -> "UNKNOWN";
      case SERVING -> "";
      case 2 -> "NOT_SERVING";
      case 3 -> "SERVICE_UNKNOWN";
      default -> "serving status " + status;
    };
  }

  private static long status(ByteBuf message) {
    long status = 0;
    while (message.isReadable()) {
      long tag = varint(message);
      if (tag == STATUS_TAG) {
        status = varint(message);
      } else {
        passOver(message, (int) (tag & 7));
      }
    }
    return status;
  }

  private static void passOver(ByteBuf message, int wireType) {
    switch (wireType) {
      case 0 -> varint(message);
      case 1 -> message.skipBytes(8);
      case 2 -> message.skipBytes(Math.clamp(varint(message), 0, Integer.MAX_VALUE));
      case 5 -> message.skipBytes(4);
      default -> throw new IndexOutOfBoundsException(wireType);
    }
  }

  private static long varint(ByteBuf message) {
    long value = 0;
    for (int i = 0; i < MOST_VARINT_BYTES; i++) {
      byte octet = message.readByte();
      value |= (octet & 0x7FL) << (7 * i);
      if (octet >= 0) {
        return value;
      }
    }
    throw new IndexOutOfBoundsException("a number of more than 64 bits");
  }
}
