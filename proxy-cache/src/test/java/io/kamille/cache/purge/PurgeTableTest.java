package io.kamille.cache.purge;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.rules.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PurgeTableTest {

  private PurgeTable table = new PurgeTable();

  private static String uri() {
    return "http://h/a";
  }

  private static Tags tags(String... names) {
    return Tags.named(List.of(names));
  }

  private Purge tag(String name, boolean isSoft) {
    return table.purge(PurgeTarget.tags(List.of(name)), isSoft, 0);
  }

  private Purge prefix(String prefix, boolean isSoft) {
    return table.purge(Objects.requireNonNull(PurgeTarget.prefix(prefix)), isSoft, 0);
  }

  private boolean isPurged(long since, String uri) {
    return table.find(since, Tags.NONE, () -> uri) != null;
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
  void aSoftPurgeSaysWhenItWasMadeHoweverLongAgo() {
    table.purge(PurgeTarget.tags(List.of("old")), true, 1_800_000_000);
    for (int i = 0; i < 1_000; i++) {
      table.purge(PurgeTarget.tags(List.of("t" + i)), false, 1_800_000_100);
    }
    Purge found = Objects.requireNonNull(table.find(0, tags("old"), PurgeTableTest::uri));
    assertThat(found.isSoft()).isTrue();
    assertThat(found.epochSeconds()).isEqualTo(1_800_000_000);
  }

  @Test
  void aUriIsAskedForOnlyIfAPrefixWasPurgedSince() {
    prefix("http://h/", false);
    tag("a", false);
    Supplier<@Nullable String> never =
        () -> {
          throw new AssertionError("asked for");
        };
    assertThat(table.find(table.last() - 1, Tags.NONE, never)).isNull();
  }

  @Test
  void aUriThatIsNoneFallsUnderEveryPrefix() {
    Purge purge = prefix("http://h/", false);
    assertThat(table.find(0, Tags.NONE, () -> null)).isSameAs(purge);
  }

  @Test
  void whatHasNoHeadYetIsRemovedByItsUriAlone() {
    tag("a", false);
    assertThat(table.isRemoved(0, null, PurgeTableTest::uri)).isFalse();
    assertThat(table.isRemoved(0, tags("a"), PurgeTableTest::uri)).isTrue();
    prefix("http://h/", true);
    assertThat(table.isRemoved(0, null, PurgeTableTest::uri)).isFalse();
    prefix("http://h/", false);
    assertThat(table.isRemoved(0, null, PurgeTableTest::uri)).isTrue();
    assertThat(table.isRemoved(table.last(), null, PurgeTableTest::uri)).isFalse();
  }

  @Test
  void aFullListOfPrefixesPurgesTheSegmentAboveAndNothingElse() {
    prefix("http://h/img/a", false);
    long since = table.last();
    for (int i = 0; i < PurgeTable.PREFIX_LIMIT; i++) {
      prefix("http://h/other/" + i + "x", false);
    }
    assertThat(table.size()).isEqualTo(PurgeTable.PREFIX_LIMIT);
    assertThat(isPurged(0, "http://h/img/b")).isTrue();
    assertThat(isPurged(since, "http://h/img/a")).as("by its own number").isFalse();
    assertThat(isPurged(0, "http://h/imgs")).isFalse();
    assertThat(isPurged(0, "http://h/other/5")).isFalse();
    assertThat(isPurged(0, "http://h/other/5xy")).isTrue();
    assertThat(isPurged(0, "https://h/img/b")).isFalse();
  }

  @Test
  void aPrefixOfAHostGoesLastOfAFullList() {
    prefix("http://h/a", false);
    for (int i = 0; i < PurgeTable.PREFIX_LIMIT; i++) {
      prefix("http://h/other/" + i + "x", false);
    }
    assertThat(isPurged(0, "http://h/b")).isFalse();
    assertThat(isPurged(0, "http://h/ab")).isTrue();
    assertThat(isPurged(0, "http://h/other/zzz")).isTrue();
  }

  @Test
  void prefixesTogetherAreNoLongerThanTheLimit() {
    for (int i = 0; i < 300; i++) {
      prefix("http://h/" + i + "/" + "a".repeat(4_000), false);
    }
    assertThat(table.size()).isBetween(200, 270);
    for (int i = 0; i < 300; i++) {
      assertThat(isPurged(0, "http://h/" + i + "/" + "a".repeat(4_001))).isTrue();
      assertThat(isPurged(0, "http://h/" + i + "/b")).isEqualTo(i < 300 - table.size());
    }
  }

  @Test
  void aPrefixThatALaterOneCoversTakesNoPlace() {
    prefix("http://h/shopping", false);
    prefix("http://h/shop", true);
    assertThat(table.size()).isEqualTo(2);
    prefix("http://h/shop", false);
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void aUriWithVeryManySegmentsIsFoundToo() {
    String deep = "http://h/" + "a/".repeat(2_000);
    prefix(deep, false);
    assertThat(isPurged(0, deep + "b")).isTrue();
    assertThat(isPurged(0, "http://h/" + "a/".repeat(1_999))).isFalse();
  }

  @Test
  void aHundredThousandPurgesOfOthersLoseAtMostOneResponseInAThousand() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 100_000; i++) {
      Tags other = Tags.ofBits(random.nextLong());
      table.purge(new PurgeTarget(Scope.TAG, List.of(), List.of(), other), i % 4 == 0, 0);
    }
    int lost = 0;
    for (int i = 0; i < 20_000; i++) {
      Tags eight = Tags.ofBits(random.longs(8).toArray());
      lost += table.find(0, eight, PurgeTableTest::uri) == null ? 0 : 1;
    }
    assertThat(lost).isLessThanOrEqualTo(20);
  }

  @Test
  void aHundredThousandPurgesOfOtherHostsLoseAtMostOneResponseInAThousand() {
    for (int i = 0; i < 100_000; i++) {
      List<String> both = List.of("http://other" + i + "/", "https://other" + i + "/");
      table.purge(new PurgeTarget(Scope.HOST, List.of(), both, Tags.NONE), false, 0);
    }
    int lost = 0;
    for (int i = 0; i < 20_000; i++) {
      lost += isPurged(0, "https://h" + i % 10 + "/" + i + "/page?x") ? 1 : 0;
    }
    assertThat(lost).isLessThanOrEqualTo(20);
    assertThat(isPurged(0, "https://other77/a")).isTrue();
    assertThat(isPurged(0, "http://other77/a")).isTrue();
  }

  // The oracle: a list of all purges

  private record Made(PurgeTarget target, Purge purge) {}

  @Test
  void whatItFindsIsWhatAListOfAllPurgesSays() {
    SplittableRandom random = new SplittableRandom(42);
    for (int round = 0; round < 40; round++) {
      table = new PurgeTable();
      List<Made> all = new ArrayList<>();
      List<Long> moments = new ArrayList<>(List.of(0L));
      for (int step = 0; step < 100; step++) {
        if (random.nextInt(20) == 0) {
          PurgeTable next = new PurgeTable();
          next.keep(table.notes(), note -> {});
          table = next;
        } else {
          PurgeTarget target = target(random);
          Purge purge = table.purge(target, random.nextBoolean(), 1_800_000_000 + step / 9);
          all.add(new Made(target, purge));
        }
        moments.add(table.last());
        long since = moments.get(random.nextInt(moments.size()));
        String uri = uri(random);
        Tags tags = Tags.named(names(random));
        Purge found = table.find(since, tags, () -> uri);
        String because = all.toString() + " since " + since + " " + uri;
        assertThat(found == null ? null : found.isSoft())
            .as(because)
            .isEqualTo(oracle(all, since, uri, tags));
        assertThat(table.isRemoved(since, tags, () -> uri))
            .as(because)
            .isEqualTo(found != null && !found.isSoft());
      }
    }
  }

  /** A process that takes its disk back goes on serving what is in memory. */
  @Test
  void whatWasPurgedIsSoWhileThePurgesOfAnotherProcessAreTakenOver() throws Exception {
    for (int i = 0; i < PurgeTable.PREFIX_LIMIT; i++) {
      prefix("http://h" + i + "/a", false);
    }
    Thread takesOver =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    table.keep(PurgeNotes.none(), _ -> {});
                  }
                });
    while (takesOver.isAlive()) {
      assertThat(isPurged(0, "http://h0/ab")).isTrue();
    }
    takesOver.join();
  }

  /** Whether it is softly purged; null if it is not. */
  private static @Nullable Boolean oracle(List<Made> all, long since, String uri, Tags tags) {
    List<Boolean> modes =
        all.stream()
            .filter(made -> made.purge.sequence() > since && made.target.matches(uri, tags))
            .map(made -> made.purge.isSoft())
            .toList();
    return modes.isEmpty() ? null : !modes.contains(false);
  }

  private static List<String> names(SplittableRandom random) {
    return random.ints(random.nextInt(3), 0, 9).mapToObj(i -> "t" + i).toList();
  }

  private static String path(SplittableRandom random) {
    StringBuilder path = new StringBuilder("/");
    for (int i = random.nextInt(5); i > 0; i--) {
      path.append(List.of("a", "ab", "/", "/", "b/", "?x", "?x=/").get(random.nextInt(7)));
    }
    return path.toString();
  }

  private static String uri(SplittableRandom random) {
    return (random.nextBoolean() ? "http" : "https") + "://h" + random.nextInt(2) + path(random);
  }

  private static PurgeTarget target(SplittableRandom random) {
    PurgeTarget target =
        switch (random.nextInt(8)) {
          case 0 ->
              PurgeTarget.host("h" + random.nextInt(2) + (random.nextBoolean() ? ":443" : ""));
          case 1 -> PurgeTarget.relativePrefix("//h" + random.nextInt(2) + path(random));
          case 2 -> PurgeTarget.relativePrefix("/" + path(random).replace("/", ""));
          case 3 -> random.nextInt(8) == 0 ? PurgeTarget.all() : PurgeTarget.prefix(uri(random));
          case 4, 5 -> PurgeTarget.prefix(uri(random));
          default -> PurgeTarget.tags(List.of("t" + random.nextInt(9)));
        };
    return Objects.requireNonNull(target);
  }
}
