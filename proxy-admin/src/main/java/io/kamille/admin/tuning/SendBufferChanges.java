package io.kamille.admin.tuning;

import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.TcpSamples;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which send buffers are to change, by the loop that has to do it. Confined to one thread. */
final class SendBufferChanges {

  private final Map<TcpSamples.Looker, List<TcpSamples.Change>> byLooker = new HashMap<>();

  /** Asks for that buffer, unless the connection was asked for it already. */
  void add(TunedConnection connection, SendBuffer next) {
    if (!next.equals(connection.asked())) {
      connection.asked(next);
      byLooker
          .computeIfAbsent(connection.looker, _ -> new ArrayList<>())
          .add(new TcpSamples.Change(connection.channel, next));
    }
  }

  /** Tells the loops. */
  void send() {
    byLooker.forEach(TcpSamples.Looker::apply);
  }
}
