package io.kamille.core.h1;

/**
 * How large a head may be.
 *
 * @param targetBytes octets of a request target; more is 414
 * @param fields field lines; more is 431
 * @param headBytes octets of start line and header section together; more is 431
 */
public record HeadLimits(int targetBytes, int fields, int headBytes) {

  /** What clients may send unless the configuration says otherwise. */
  public static final HeadLimits REQUEST = new HeadLimits(8 * 1024, 100, 32 * 1024);

  /** What origins may send: they are configured, not anonymous, and set many cookies. */
  public static final HeadLimits RESPONSE = new HeadLimits(0, 200, 64 * 1024);

  /** Checks that the limits leave room for a message. */
  public HeadLimits {
    if (headBytes < 256 || fields < 1 || targetBytes > headBytes) {
      throw new IllegalArgumentException(
          "head limits: " + headBytes + " bytes, " + fields + " fields, target " + targetBytes);
    }
  }
}
