package io.kamille.core.socket;

import io.kamille.core.setting.HostPort;
import java.io.IOException;
import java.util.List;

/** Where sockets of TCP come from. Any thread. */
@FunctionalInterface
public interface Network extends Connector, AutoCloseable {

  /**
   * Opens listening sockets. Blocks, for some seconds at most.
   *
   * @param count one for each loop
   * @return owned by the caller; none if it shall open them itself
   * @throws IOException if they cannot be had; the message says which and why
   */
  default List<Integer> listen(HostPort address, int backlog, int count) throws IOException {
    return List.of();
  }

  @Override
  default void close() {}
}
