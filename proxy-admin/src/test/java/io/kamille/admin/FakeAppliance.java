package io.kamille.admin;

import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.CacheSnapshot;
import io.kamille.admin.view.ListenerSnapshot;
import io.kamille.admin.view.LoopSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginState;
import java.util.ArrayList;
import java.util.List;

/** An appliance that says what the test wants. */
final class FakeAppliance implements ApplianceView {

  volatile State state = State.READY;
  volatile boolean isBroken;
  final List<String> purged = new ArrayList<>();

  @Override
  public State state() {
    if (isBroken) {
      throw new IllegalStateException("broken on purpose");
    }
    return state;
  }

  @Override
  public String version() {
    return "1.2.3";
  }

  @Override
  public long startedEpochMillis() {
    return 1_795_251_600_000L;
  }

  @Override
  public List<ListenerSnapshot> listeners() {
    return List.of(new ListenerSnapshot("127.0.0.1:8080", 3));
  }

  @Override
  public List<LoopSnapshot> loops() {
    return List.of(new LoopSnapshot("kamille-loop-1", 100, 3, 1.25));
  }

  @Override
  public CacheSnapshot cache() {
    return new CacheSnapshot(1 << 20, 4096, 2, 75, 25);
  }

  @Override
  public List<UpstreamSnapshot> upstreams() {
    return List.of(
        new UpstreamSnapshot(
            "site", List.of(new OriginSnapshot("127.0.0.1:9000", OriginState.OUT, 1, 4))));
  }

  @Override
  public int purge(String url) {
    purged.add(url);
    return 2;
  }
}
