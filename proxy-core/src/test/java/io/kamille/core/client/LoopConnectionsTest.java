package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two connections, of which the one that is asked first fails. */
class LoopConnectionsTest {

  private final LoopConnections connections =
      new LoopConnections(
          new EmbeddedChannel().eventLoop(),
          new LoopTime(() -> 0),
          () -> ClientSettings.DEFAULT,
          1 << 20,
          (configured, _) -> configured);
  private final Listed sound = new Listed(false);
  private final Listed faulty = new Listed(true);

  @BeforeEach
  void begin() {
    for (Listed each : List.of(sound, faulty)) {
      connections.begun(each);
      connections.lingers(each);
    }
  }

  @Test
  void aFaultOfOneConnectionKeepsNoOtherFromDraining() {
    assertOthersAreAsked(all -> all.drain(Duration.ZERO), "drain");
  }

  @Test
  void aFaultOfOneConnectionKeepsNoOtherFromBeingClosed() {
    assertOthersAreAsked(LoopConnections::closeAll, "close");
  }

  @Test
  void aFaultOfOneConnectionKeepsNoOtherFromBeingSeenAsDone() {
    assertOthersAreAsked(LoopConnections::closeWhatIsDone, "look");
  }

  private void assertOthersAreAsked(Consumer<LoopConnections> action, String asked) {
    action.accept(connections);
    assertThat(faulty.asked).containsExactly(asked, "end by a fault");
    assertThat(sound.asked).containsExactly(asked);
  }

  private static final class Listed extends ListedConnection {

    private final List<String> asked = new ArrayList<>();
    private final boolean isFaulty;

    Listed(boolean isFaulty) {
      this.isFaulty = isFaulty;
    }

    private void ask(String what) {
      asked.add(what);
      if (isFaulty) {
        throw new IllegalStateException("a fault on purpose");
      }
    }

    @Override
    protected void drain() {
      ask("drain");
    }

    @Override
    protected void close() {
      ask("close");
    }

    @Override
    protected boolean closeIfAllIsAcknowledged() {
      ask("look");
      return false;
    }

    @Override
    protected void endBy(Throwable bug) {
      asked.add("end by a fault");
    }

    @Override
    protected boolean isIdle() {
      return false;
    }

    @Override
    protected void refuseHead(Failure why) {}
  }
}
