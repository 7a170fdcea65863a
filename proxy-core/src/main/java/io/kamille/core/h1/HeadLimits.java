package io.kamille.core.h1;

import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * How large a head may be.
 *
 * @param targetBytes octets of a request target; more is 414
 * @param fields field lines; more is 431
 * @param headBytes octets of start line and header section together; more is 431
 */
public record HeadLimits(int targetBytes, int fields, int headBytes) {

  /** The request target may take this part of the head. */
  private static final int TARGET_PART = 4;

  public static final Setting<Integer> HEAD_SIZE =
      Setting.of(
              "head-size",
              ValueTypes.smallSize(1 << 10, 1 << 20),
              "The largest request head, request line included. A larger one is answered with 431,"
                  + " and so is one of over 100 lines or larger than a loop's part of an eighth of"
                  + " the Java heap. The request target may take a quarter of it; a longer one is"
                  + " answered with 414.")
          .defaultsTo(32 << 10)
          .into("headBytes");

  /** What {@code limits} says of request heads. */
  public static final Section<HeadLimits> OF_REQUEST =
      Section.of(
          HeadLimits.class,
          Row.derived(limits -> limits.value(HEAD_SIZE) / TARGET_PART),
          Row.fixed(100),
          HEAD_SIZE);

  /** What clients may send unless the configuration says otherwise. */
  public static final HeadLimits REQUEST = OF_REQUEST.defaults();

  /** What origins may send: they are configured, not anonymous, and set many cookies. */
  public static final HeadLimits RESPONSE = new HeadLimits(0, 200, 64 * 1024);

  /** What trailers may be, of whichever side. */
  public static final HeadLimits TRAILERS = new HeadLimits(0, 32, 8 * 1024);

  /** Checks that the limits leave room for a message. */
  public HeadLimits {
    if (headBytes < 256 || fields < 1 || targetBytes > headBytes) {
      throw new IllegalArgumentException(
          "head limits: " + headBytes + " bytes, " + fields + " fields, target " + targetBytes);
    }
  }
}
