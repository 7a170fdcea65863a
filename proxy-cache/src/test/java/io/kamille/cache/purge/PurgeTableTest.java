package io.kamille.cache.purge;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.Tags;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PurgeTableTest {

  private final PurgeTable table = new PurgeTable(8, 4, 1000);

  private static String uri() {
    return "http://h/a";
  }

  private static Tags tags(String... names) {
    return Tags.named(List.of(names));
  }

  private Purge tag(String name, boolean isSoft) {
    return Objects.requireNonNull(table.purge(PurgeTarget.tags(List.of(name)), isSoft, 0));
  }

  private Purge prefix(String prefix, boolean isSoft) {
    return Objects.requireNonNull(
        table.purge(Objects.requireNonNull(PurgeTarget.prefix(prefix)), isSoft, 0));
  }

  @Test
  void onlyWhatIsOlderFallsUnderAPurge() {
    Purge purge = tag("a", false);
    assertThat(table.last()).isEqualTo(purge.sequence());
    assertThat(table.find(purge.sequence() - 1, tags("b", "a"), PurgeTableTest::uri))
        .isSameAs(purge);
    assertThat(table.find(purge.sequence(), tags("a"), PurgeTableTest::uri)).isNull();
    assertThat(table.find(0, tags("b"), PurgeTableTest::uri)).isNull();
  }

  @Test
  void aHardPurgeGoesBeforeASoftOne() {
    Purge hard = tag("a", false);
    Purge soft = tag("a", true);
    assertThat(table.find(0, tags("a"), PurgeTableTest::uri)).isSameAs(hard);
    assertThat(table.find(hard.sequence(), tags("a"), PurgeTableTest::uri)).isSameAs(soft);
    Purge byPrefix = prefix("http://h/", false);
    assertThat(table.find(hard.sequence(), tags("a"), PurgeTableTest::uri)).isSameAs(byPrefix);
  }

  @Test
  void aUriIsAskedForOnlyIfAPrefixWasPurgedSince() {
    prefix("http://h/", false);
    Supplier<@Nullable String> never =
        () -> {
          throw new AssertionError("asked for");
        };
    assertThat(table.find(table.last(), Tags.NONE, never)).isNull();
  }

  @Test
  void aUriThatIsNoneFallsUnderEveryPrefix() {
    Purge purge = prefix("http://h/", false);
    assertThat(table.find(0, Tags.NONE, () -> null)).isSameAs(purge);
  }

  @Test
  void whatHasNoHeadYetMayHaveAnyTag() {
    tag("a", true);
    assertThat(table.mayRemove(0, null, PurgeTableTest::uri)).isFalse();
    tag("a", false);
    assertThat(table.mayRemove(0, null, PurgeTableTest::uri)).isTrue();
    assertThat(table.mayRemove(0, tags("b"), PurgeTableTest::uri)).isFalse();
    assertThat(table.mayRemove(table.last(), null, PurgeTableTest::uri)).isFalse();
  }

  @Test
  void thereIsNoRoomForMoreTagsThanTheLimit() {
    for (int i = 0; i < 8; i++) {
      tag("t" + i, false);
    }
    long before = table.last();
    assertThat(table.purge(PurgeTarget.tags(List.of("new", "t0")), false, 0)).isNull();
    assertThat(table.last()).isEqualTo(before);
    tag("t0", true);
    assertThat(table.size()).isEqualTo(8);
    prefix("http://h/", false);
  }

  @Test
  void thereIsNoRoomForMorePrefixesThanTheLimit() {
    for (int i = 0; i < 4; i++) {
      prefix("http://h/" + i, false);
    }
    assertThat(table.purge(PurgeTarget.all(), true, 0)).isNull();
    prefix("http://h/0", false);
    assertThat(table.size()).isEqualTo(4);
  }

  @Test
  void prefixesTogetherAreNoLongerThanTheLimit() {
    String half = "http://h/" + "a".repeat(491);
    prefix(half, false);
    assertThat(table.isCrowded()).isFalse();
    prefix(half, true);
    assertThat(table.isCrowded()).isTrue();
    assertThat(table.purge(Objects.requireNonNull(PurgeTarget.prefix("http://h/")), false, 0))
        .isNull();
    assertThat(table.purge(PurgeTarget.all(), false, 0)).isNotNull();
    assertThat(table.isCrowded()).isFalse();
  }

  @Test
  void thereIsAlwaysRoomForAHardPurgeOfEverything() {
    for (int i = 0; i < 4; i++) {
      prefix("http://h/" + i, i % 2 == 0);
    }
    Purge all = Objects.requireNonNull(table.purge(PurgeTarget.all(), false, 0));
    assertThat(table.size()).isEqualTo(1);
    assertThat(table.find(0, Tags.NONE, () -> "http://h/1")).isSameAs(all);
    assertThat(table.find(all.sequence(), Tags.NONE, () -> "http://h/1")).isNull();
  }

  @Test
  void whatWasNotComparedBeforeNotesWereTrimmedCountsAsPurged() {
    tag("a", false);
    Purge second = tag("b", false);
    prefix("http://h/b", false);
    table.raiseFloor(second.sequence());
    table.trim(second.sequence());
    assertThat(table.size()).isEqualTo(1);
    assertThat(table.floor()).isEqualTo(second.sequence());
    Purge found = table.find(second.sequence() - 1, tags("c"), PurgeTableTest::uri);
    assertThat(found).isNotNull();
    assertThat(Objects.requireNonNull(found).isSoft()).isFalse();
    assertThat(table.find(second.sequence(), tags("a"), PurgeTableTest::uri)).isNull();
  }

  @Test
  void manyTagsAreAllFound() {
    PurgeTable large = new PurgeTable();
    for (int i = 0; i < 5000; i++) {
      large.purge(PurgeTarget.tags(List.of("t" + i)), false, 0);
    }
    for (int i = 0; i < 5000; i++) {
      Purge found = large.find(0, tags("t" + i), PurgeTableTest::uri);
      assertThat(found).isNotNull();
      assertThat(Objects.requireNonNull(found).sequence()).isEqualTo(i + 1);
    }
    assertThat(large.isCrowded()).isFalse();
  }
}
