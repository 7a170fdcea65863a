package io.kamille.launcher.appliance;

import io.kamille.cache.purge.RemovalListener;
import io.kamille.launcher.service.Incumbent;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A running appliance as the process sees it that takes its place. One call at a time. */
record Succession(Appliance appliance) implements Incumbent {

  @Override
  public Map<String, List<Integer>> listeningSockets() {
    return appliance.clientSide().listeningSockets();
  }

  @Override
  public Map<String, String> release(RemovalListener heir) {
    appliance.certificates().ifPresent(keeper -> keeper.handOver(true));
    appliance.routes().handover().release(heir);
    // One process of a node can be a member. The purges of the others come by the heir.
    appliance.leave();
    return HandoverValues.of(appliance);
  }

  @Override
  public void takeBack(Consumer<RemovalListener> meanwhile) throws IOException {
    appliance.certificates().ifPresent(keeper -> keeper.handOver(false));
    try {
      appliance.routes().handover().takeBack(meanwhile);
    } finally {
      appliance.rejoin();
    }
  }

  @Override
  public RemovalListener follower() {
    return appliance.routes().handover().follower();
  }

  @Override
  public void stepBack() {
    appliance.clientSide().stopListening();
    appliance.closeAdmin();
  }
}
