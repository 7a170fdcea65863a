package io.kamille.cache.removal;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Kind;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import java.util.List;
import java.util.Objects;
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

  private void fillWithTags() {
    for (int i = 0; i < PurgeTable.TAG_LIMIT; i += Tags.LIMIT) {
      int first = i;
      List<String> tags =
          IntStream.range(0, Tags.LIMIT).mapToObj(number -> "t" + (first + number)).toList();
      assertThat(removals.purge(PurgeTarget.tags(tags), false)).isNotNull();
    }
  }

  private void fillWithPrefixes() {
    for (int i = 0; i < PurgeTable.PREFIX_LIMIT; i++) {
      PurgeTarget prefix = Objects.requireNonNull(PurgeTarget.prefix("http://other.example/" + i));
      assertThat(removals.purge(prefix, false)).isNotNull();
    }
  }

  private void invalidateGroup() {
    RequestHead post = RequestHead.of("POST", "http://example.org/form");
    removals.invalidate(post, ResponseHead.of(200, "Cache-Group-Invalidation", "\"a\""));
  }

  /** RFC 9875 §3. */
  @Test
  void aGroupThatFindsNoRoomTakesItsWholeOriginAlong() {
    fillWithTags();
    long before = table.last();
    invalidateGroup();
    assertThat(table.find(before, Tags.NONE, () -> "http://example.org/page")).isNotNull();
    assertThat(table.find(before, Tags.NONE, () -> "http://example.com/page")).isNull();
  }

  /** RFC 9875 §3. */
  @Test
  void aGroupThatFindsNoRoomForItsOriginEitherTakesEverythingAlong() {
    fillWithTags();
    fillWithPrefixes();
    long before = table.last();
    invalidateGroup();
    assertThat(table.find(before, Tags.NONE, () -> "http://example.org/page")).isNotNull();
    MetricRegistry registry = new MetricRegistry();
    removals.register(registry);
    assertThat(registry.read().stream().flatMap(family -> family.samples().stream()))
        .filteredOn(sample -> sample.labelValues().contains(Kind.ALL.token()))
        .extracting(MetricFamily.Sample::value)
        .containsExactly(1.0);
  }
}
