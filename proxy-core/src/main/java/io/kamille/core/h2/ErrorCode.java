package io.kamille.core.h2;

/** Why a stream or a connection ends (RFC 9113 §7). */
public enum ErrorCode {
  NO_ERROR,
  PROTOCOL_ERROR,
  INTERNAL_ERROR,
  FLOW_CONTROL_ERROR,
  SETTINGS_TIMEOUT,
  STREAM_CLOSED,
  FRAME_SIZE_ERROR,
  REFUSED_STREAM,
  CANCEL,
  COMPRESSION_ERROR,
  CONNECT_ERROR,
  ENHANCE_YOUR_CALM,
  INADEQUATE_SECURITY,
  HTTP_1_1_REQUIRED;

  private static final ErrorCode[] ALL = values();

  /** The code on the wire. */
  public int number() {
    return ordinal();
  }

  /** Unknown codes count as {@link #INTERNAL_ERROR} (RFC 9113 §7). */
  public static ErrorCode of(long number) {
    return number >= 0 && number < ALL.length ? ALL[(int) number] : INTERNAL_ERROR;
  }
}
