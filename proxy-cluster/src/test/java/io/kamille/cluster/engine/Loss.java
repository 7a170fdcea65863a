package io.kamille.cluster.engine;

import java.util.Objects;
import org.jgroups.JChannel;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TCP;
import org.jgroups.stack.ProtocolStack.Position;

/** Messages of one node that get lost, in one direction or both. */
public final class Loss implements AutoCloseable {

  private final JChannel channel;

  /** Of what a member hears and what it says, until it is closed. */
  public Loss(ClusterEngine member, boolean isDeaf, boolean isDumb) throws Exception {
    channel = Objects.requireNonNull(((JGroupsEngine) member).channel());
    DISCARD discard = new DISCARD();
    discard.setUpDiscardRate(isDeaf ? 1 : 0);
    discard.setDownDiscardRate(isDumb ? 1 : 0);
    channel.getProtocolStack().insertProtocol(discard, Position.ABOVE, TCP.class);
  }

  @Override
  public void close() {
    channel.getProtocolStack().removeProtocol(DISCARD.class);
  }
}
