package io.kamille.core.socket;

import java.net.InetAddress;

/** Whoever decides about send buffers: told what loops saw, asked about new connections. */
public interface SendBufferAdvisor {

  /**
   * What a connection begins with.
   *
   * @param partBytes of what all share, set aside until {@link #seen}
   */
  record Beginning(SendBuffer buffer, long partBytes) {}

  /** What a connection of {@code client} has from its first octets on. Any loop; must not wait. */
  Beginning beginning(InetAddress client);

  /**
   * Parts that were set aside are so no longer: their connections were looked at for the first
   * time, in rows handed over before, or are closed. Any loop; must not wait.
   */
  void seen(long partBytes);

  /**
   * Takes what a loop saw. Any loop; must not wait.
   *
   * @param samples owned until {@link TcpSamples#giveBack}
   */
  void take(TcpSamples samples);
}
