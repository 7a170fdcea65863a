package io.kamille.cache.removal;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.List;
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
      removals.purge(PurgeTarget.tags(tags), false);
    }
    long before = table.last();
    invalidateGroup();
    RequestHead get = RequestHead.of("GET", "http://example.org/page");
    Tags group = Tags.groups(get, List.of("a"));
    assertThat(table.find(before, group, () -> "http://example.org/page")).isNotNull();
    assertThat(table.find(before, Tags.NONE, () -> "http://example.org/page")).isNull();
  }
}
