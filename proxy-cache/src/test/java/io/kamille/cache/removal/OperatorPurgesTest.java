package io.kamille.cache.removal;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport.State;
import io.kamille.cache.rules.Tags;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OperatorPurgesTest {

  private final PurgeFixture fixture = new PurgeFixture();
  private final Queue<Runnable> waiting = fixture.waiting;
  private final OperatorPurges purges = fixture.purges;

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void dryRunsThatWaitAreBoundedAlsoWhenTheyAreRememberedNoMore() {
    for (int i = 0; i < OperatorPurges.COUNTS; i++) {
      assertThat(purges.count(PurgeTarget.all(), false)).isNotNull();
    }
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://example.org/"));
    for (int i = 0; i < OperatorPurges.RECENT; i++) {
      purges.purge(url, false);
    }
    assertThat(purges.count(PurgeTarget.all(), false)).isNull();
    assertThat(waiting).hasSize(OperatorPurges.COUNTS);
    waiting.remove().run();
    assertThat(purges.count(PurgeTarget.all(), false)).isNotNull();
    assertThat(purges.count(PurgeTarget.all(), false)).isNull();
  }

  @Test
  void aDryRunThatIsCountedIsDone() {
    assertThat(Objects.requireNonNull(purges.count(PurgeTarget.all(), false)).state())
        .isEqualTo(State.COUNTING);
    waiting.remove().run();
    assertThat(purges.recent().getFirst().state()).isEqualTo(State.DONE);
  }

  @Test
  void besideOtherNodesThoseWithoutANumberAreNegative() {
    fixture.removals.share(new Others());
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://example.org/"));
    purges.count(url, false);
    purges.purge(7, url, false);
    purges.purge(0, url, false);
    purges.purge(8, url, false);
    assertThat(purges.recent()).extracting(PurgeReport::id).containsExactly(8L, -2L, 7L, -1L);
  }

  private static final class Others implements OtherNodes {

    @Override
    public CompletionStage<?> purged(List<PurgeTarget> targets) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void purge(PurgeTarget target, boolean isSoft, Done done) {}
  }

  @Test
  void ofAPurgeNoMoreIsKeptThanIsShown() {
    List<String> names = List.of("a".repeat(Tags.LENGTH_LIMIT), "b".repeat(Tags.LENGTH_LIMIT));
    purges.purge(PurgeTarget.tags(names), false);
    PurgeTarget kept = purges.recent().getFirst().target();
    assertThat(kept.names()).containsExactly("a".repeat(200) + "…");
    assertThat(kept.shown()).isEqualTo("a".repeat(200) + "…");
    assertThat(kept.tags()).isEqualTo(Tags.NONE);
  }
}
