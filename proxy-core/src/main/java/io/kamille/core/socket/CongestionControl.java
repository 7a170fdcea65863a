package io.kamille.core.socket;

import java.nio.ByteBuffer;

/** Which law governs a sender's congestion window (RFC 5681, RFC 9438, BBR). */
public enum CongestionControl {
  RENO("reno"),
  CUBIC("cubic"),
  /** Any version: it goes by the delivery rate, not by loss. */
  BBR("bbr"),
  /** One we have no law for, or the kernel does not say. */
  OTHER("other");

  private final String token;

  CongestionControl(String token) {
    this.token = token;
  }

  /** The name as the kernel has it. */
  public String token() {
    return token;
  }

  /** What the kernel's name, padded with zero octets, stands for: {@code bbr3} is a BBR, too. */
  static CongestionControl of(ByteBuffer name) {
    for (CongestionControl each : values()) {
      if (each != OTHER && startsWith(name, each.token)) {
        return each;
      }
    }
    return OTHER;
  }

  private static boolean startsWith(ByteBuffer name, String token) {
    boolean same = name.limit() > token.length();
    for (int i = 0; same && i < token.length(); i++) {
      same = name.get(i) == token.charAt(i);
    }
    byte behind = same ? name.get(token.length()) : -1;
    return behind == 0 || (behind >= '0' && behind <= '9');
  }
}
