package io.kamille.cache.removal;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport.Progress;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemovalsTest {

  private final PurgeFixture fixture = new PurgeFixture();
  private final PurgeTable table = fixture.table;
  private final Removals removals = fixture.removals;

  @AfterEach
  void close() {
    fixture.close();
  }

  private void invalidateGroup() {
    RequestHead post = RequestHead.of("POST", "http://example.org/form");
    removals.invalidate(post, ResponseHead.of(200, "Cache-Group-Invalidation", "\"a\""));
  }

  /** RFC 9875 §3. */
  @Test
  void aGroupTakesNothingElseOfItsOriginAlongHoweverMuchIsPurged() {
    for (int i = 0; i < 70; i++) {
      int first = i * Tags.LIMIT;
      List<String> tags =
          IntStream.range(0, Tags.LIMIT).mapToObj(number -> "t" + (first + number)).toList();
      removals.purgeNow(PurgeTarget.tags(tags), false);
    }
    long before = table.last();
    invalidateGroup();
    RequestHead get = RequestHead.of("GET", "http://example.org/page");
    Tags group = Tags.groups(get, List.of("a"));
    assertThat(table.find(before, group, () -> "http://example.org/page")).isNotNull();
    assertThat(table.find(before, Tags.NONE, () -> "http://example.org/page")).isNull();
  }

  @Test
  void dryRunsThatWaitAreBoundedAlsoWhenTheyAreRememberedNoMore() {
    for (int i = 0; i < Removals.COUNTS; i++) {
      assertThat(removals.count(PurgeTarget.all(), false)).isNotNull();
    }
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://example.org/"));
    for (int i = 0; i < Removals.RECENT; i++) {
      removals.purge(url, false);
    }
    assertThat(removals.count(PurgeTarget.all(), false)).isNull();
    assertThat(fixture.waiting).hasSize(Removals.COUNTS);
    fixture.waiting.remove().run();
    assertThat(removals.count(PurgeTarget.all(), false)).isNotNull();
    assertThat(removals.count(PurgeTarget.all(), false)).isNull();
  }

  @Test
  void aDryRunThatIsCountedIsDone() {
    assertThat(Objects.requireNonNull(removals.count(PurgeTarget.all(), false)).state())
        .isEqualTo(Progress.COUNTING);
    fixture.waiting.remove().run();
    assertThat(removals.recent().getFirst().state()).isEqualTo(Progress.DONE);
  }

  @Test
  void besideOtherNodesThoseWithoutANumberAreNegative() {
    removals.share(new Others());
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://example.org/"));
    removals.count(url, false);
    removals.purge(7, url, false);
    removals.purge(0, url, false);
    removals.purge(8, url, false);
    assertThat(removals.recent()).extracting(PurgeReport::id).containsExactly(8L, -2L, 7L, -1L);
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
    removals.purge(PurgeTarget.tags(names), false);
    PurgeTarget kept = removals.recent().getFirst().target();
    assertThat(kept.names()).containsExactly("a".repeat(200) + "…");
    assertThat(kept.shown()).isEqualTo("a".repeat(200) + "…");
    assertThat(kept.tags()).isEqualTo(Tags.NONE);
  }
}
