package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.load.OriginTarget.Trait;
import io.kamille.perf.load.WebObject.ContentKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class WebAxe4Test {

  private static final long WORKING_SET = 64L << 20;
  private static final int COUNT = 150_000;
  private static final long SEED = 4;

  private final WebAxe4 workload = new WebAxe4("a", WORKING_SET, 1, SEED);

  /** What a request asks for, as it goes over the wire. */
  private record Seen(String method, OriginTarget target, String text) {

    static Seen of(LoadRequest request) {
      String text = StandardCharsets.US_ASCII.decode(request.octets(false)).toString();
      String[] words = text.split(" ", 3);
      return new Seen(words[0], OriginTarget.parse(words[1]), text);
    }

    ContentKind kind() {
      return ContentKind.values()[(int) (target.object() >>> 48)];
    }

    long index() {
      return target.object() & 0xffff_ffff_ffffL;
    }
  }

  private Set<Long> fill() {
    Set<Long> known = new HashSet<>();
    RequestSource filling = workload.filling();
    while (!workload.isFilled()) {
      Seen seen = Seen.of(filling.next());
      assertThat(known.add(seen.target().object())).isTrue();
    }
    workload.resetCounters();
    return known;
  }

  private List<Seen> ask(int count) {
    var seen = new ArrayList<Seen>();
    for (int i = 0; i < count; i++) {
      seen.add(Seen.of(workload.next()));
    }
    return seen;
  }

  private static double share(List<Seen> all, Predicate<Seen> which) {
    return (double) all.stream().filter(which).count() / all.size();
  }

  @Test
  void lengthsHaveTheMeansOfTheDefinition() {
    assertThat(meanLength(ContentKind.IMAGE)).isCloseTo(4.5 * 1024, within(60.0));
    assertThat(meanLength(ContentKind.HTML)).isCloseTo(8.5 * 1024, within(110.0));
    assertThat(meanLength(ContentKind.DOWNLOAD)).isCloseTo(300 * 1024, within(4000.0));
    assertThat(meanLength(ContentKind.OTHER)).isCloseTo(25 * 1024, within(200.0));
  }

  private static double meanLength(ContentKind kind) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
      sum += new WebObject(kind, i).length();
    }
    return sum / COUNT;
  }

  @Test
  void asManyAreCachableAsTheDefinitionSays() {
    assertThat(cachable(ContentKind.IMAGE)).isCloseTo(0.80, within(0.01));
    assertThat(cachable(ContentKind.HTML)).isCloseTo(0.90, within(0.01));
    assertThat(cachable(ContentKind.DOWNLOAD)).isCloseTo(0.95, within(0.01));
    assertThat(cachable(ContentKind.OTHER)).isCloseTo(0.72, within(0.01));
    assertThat(cachable(ContentKind.POSTED)).isZero();
  }

  private static double cachable(ContentKind kind) {
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
      count += new WebObject(kind, i).isCachable() ? 1 : 0;
    }
    return (double) count / COUNT;
  }

  @Test
  void theOriginThinksForThreeHundredMillisecondsOnAverage() {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
      sum += new WebObject(ContentKind.IMAGE, i).target(1).of(Trait.THINK);
    }
    assertThat(sum / COUNT).isCloseTo(300, within(3.0));
  }

  @Test
  void kindsMethodsAndRequestTypesComeInTheirShares() {
    fill();
    List<Seen> seen = ask(COUNT);
    assertThat(share(seen, s -> s.kind() == ContentKind.IMAGE)).isCloseTo(0.65, within(0.015));
    assertThat(share(seen, s -> s.kind() == ContentKind.HTML)).isCloseTo(0.15, within(0.01));
    assertThat(share(seen, s -> s.kind() == ContentKind.DOWNLOAD)).isCloseTo(0.005, within(0.001));
    assertThat(share(seen, s -> s.kind() == ContentKind.OTHER)).isCloseTo(0.195, within(0.01));
    assertThat(share(seen, s -> s.method().equals("POST"))).isCloseTo(0.015, within(0.002));
    assertThat(share(seen, s -> s.method().equals("HEAD"))).isCloseTo(0.001, within(0.0004));
    assertThat(share(seen, s -> s.text().contains("no-cache"))).isCloseTo(0.05, within(0.003));
    assertThat(share(seen, s -> s.text().contains("Since: Wed"))).isCloseTo(0.05, within(0.003));
    assertThat(share(seen, s -> s.text().contains("Since: Thu"))).isCloseTo(0.10, within(0.004));
  }

  @Test
  void nineteenOfTwentyWereAskedForBefore() {
    Set<Long> known = fill();
    List<Seen> seen = ask(COUNT);
    double again = share(seen, s -> s.method().equals("POST") || !known.add(s.target().object()));
    assertThat(again).isCloseTo(0.95, within(0.01));
  }

  @Test
  void theHotHundredthGetsATenthOfTheChoices() {
    fill();
    List<Seen> others = ask(COUNT).stream().filter(s -> s.kind() == ContentKind.OTHER).toList();
    assertThat(share(others, s -> s.index() % 100 == 0)).isCloseTo(0.10, within(0.012));
  }

  @Test
  void smallObjectsAreAskedForMoreOften() {
    fill();
    double mean =
        ask(COUNT).stream()
            .filter(s -> s.kind() == ContentKind.OTHER)
            .mapToInt(s -> s.target().length())
            .average()
            .orElseThrow();
    assertThat(mean).isBetween(19.0 * 1024, 22.0 * 1024);
  }

  @Test
  void whatMayBeAHitIsCounted() {
    Set<Long> known = fill();
    double possible =
        share(
            ask(COUNT),
            s ->
                !s.method().equals("POST")
                    && !known.add(s.target().object())
                    && s.target().of(Trait.FRESH) > 0
                    && !s.text().contains("no-cache"));
    assertThat(workload.requests()).isEqualTo(COUNT);
    assertThat(workload.offeredHitRatio()).isCloseTo(possible, within(1e-9)).isBetween(0.68, 0.76);
  }

  @Test
  void imagesFollowTheirPage() {
    fill();
    Map<Long, List<Long>> images = new HashMap<>();
    Seen page = null;
    for (Seen seen : ask(COUNT)) {
      if (seen.kind() == ContentKind.HTML) {
        page = seen;
      } else if (page != null && seen.kind() == ContentKind.IMAGE) {
        images.computeIfAbsent(page.target().object(), p -> new ArrayList<>()).add(seen.index());
      } else {
        page = null;
      }
    }
    long first = images.keySet().iterator().next();
    int embedded = new WebObject(ContentKind.HTML, first & 0xffff_ffff_ffffL).embedded();
    assertThat(images.get(first)).hasSizeGreaterThanOrEqualTo(embedded);
  }

  @Test
  void theSeedDecidesEveryRequest() {
    var same = new WebAxe4("a", WORKING_SET, 1, SEED);
    var other = new WebAxe4("a", WORKING_SET, 1, SEED + 1);
    var mine = new ArrayList<String>();
    var others = new ArrayList<String>();
    for (int i = 0; i < 1000; i++) {
      mine.add(Seen.of(workload.next()).text());
      others.add(Seen.of(other.next()).text());
      assertThat(Seen.of(same.next()).text()).isEqualTo(mine.getLast());
    }
    assertThat(others).isNotEqualTo(mine);
  }

  @Test
  void aTinyWorkingSetWorksToo() {
    var tiny = new WebAxe4("a", 1, 0, SEED);
    for (int i = 0; i < 10_000; i++) {
      tiny.next();
    }
    assertThat(tiny.isFilled()).isTrue();
  }
}
