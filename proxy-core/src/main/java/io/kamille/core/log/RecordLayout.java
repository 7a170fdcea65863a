package io.kamille.core.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Locale;

/** Where the parts of a record in the ring stand, in octets from its beginning. */
final class RecordLayout {

  /*
   *   0   4  length of the record, the ring's
   *   4   2  status code
   *   6   1  minor version
   *   7   1  whether the request came over TLS
   *   8   8  start, microseconds since the epoch
   *  16   8  duration, nanoseconds
   *  24   8  octets of content
   *  32   1  cache result
   *  33   1  failure kind plus one, 0 for none
   *  34   1  status of gRPC plus one, 0 for none
   *  35   1  how many values are added
   *  36   2  length of the client's address: 4, 16 or, when it is not known, 0
   *  38      the client's address, then method, request target, authority, referer, user agent,
   *          route, origin, reason of the failure and the values that are added: each behind its
   *          length in two octets, whose highest bit says that it was cut. The time of an origin is
   *          eight octets
   */
  static final int STATUS = RecordRing.LENGTH_BYTES;
  static final int VERSION = STATUS + Short.BYTES;
  static final int SECURE = VERSION + 1;
  static final int START = SECURE + 1;
  static final int DURATION = START + Long.BYTES;
  static final int CONTENT = DURATION + Long.BYTES;
  static final int CACHE_RESULT = CONTENT + Long.BYTES;
  static final int FAILURE = CACHE_RESULT + 1;
  static final int GRPC_STATUS = FAILURE + 1;
  static final int ADDED = GRPC_STATUS + 1;
  static final int ADDRESS_LENGTH = ADDED + 1;
  static final int OCTETS = ADDRESS_LENGTH + Short.BYTES;

  static final int ADDRESS_LIMIT = 16;
  static final int CUT = 0x8000;

  /** How many octets of a value that is added are kept. */
  static final int ADDED_LIMIT = 1024;

  private static final int USUAL_LENGTH = OCTETS + ADDRESS_LIMIT + Text.lengths();

  /** The longest record there is with so many values that are added. */
  static int greatestLength(int extras) {
    return USUAL_LENGTH + extras * (Short.BYTES + ADDED_LIMIT);
  }

  static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());
  static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** The texts of a record, in their order, and how many octets of each are kept. */
  enum Text {
    METHOD(0, 64),
    TARGET(1, 8192),
    AUTHORITY(2, 256),
    REFERER(3, 2048),
    USER_AGENT(4, 1024),
    ROUTE(5, 256),
    ORIGIN(6, 256),
    REASON(7, 256);

    static final int COUNT = 8;

    private final int number;
    private final int limit;

    Text(int number, int limit) {
      this.number = number;
      this.limit = limit;
    }

    int number() {
      return number;
    }

    int limit() {
      return limit;
    }

    /** As settings write it. */
    String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static int lengths() {
      int sum = 0;
      for (Text text : values()) {
        sum += Short.BYTES + text.limit;
      }
      return sum;
    }
  }

  private RecordLayout() {}
}
