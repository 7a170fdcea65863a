package io.kamille.core.socket;

import java.net.InetAddress;

/** Whoever decides about send buffers: told what loops saw, asked about new connections. */
public interface SendBufferAdvisor {

  /** What a new connection of {@code client} begins with. Any loop; must not wait. */
  SendBuffer initial(InetAddress client);

  /**
   * Takes what a loop saw. Any loop; must not wait.
   *
   * @param samples owned until {@link TcpSamples#giveBack}
   */
  void take(TcpSamples samples);
}
