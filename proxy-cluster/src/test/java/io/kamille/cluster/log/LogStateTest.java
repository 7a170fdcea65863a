package io.kamille.cluster.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.core.Await;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogStateTest {

  @TempDir private Path directory;

  private final List<String> done = new ArrayList<>();
  private final List<String> meanwhile = new ArrayList<>();
  private final LocalPurges local =
      new LocalPurges() {
        @Override
        public long purge(long number, PurgeTarget target, boolean isSoft) {
          if (target.names().contains("http://a.test/" + spoiled)) {
            throw new IllegalStateException("spoiled");
          }
          done.add(number + " " + target.names().getFirst());
          onPurge.run();
          meanwhile.add(state.applied() + " of " + state.begun());
          return 3;
        }

        @Override
        public void invalidate(String uri) {}

        @Override
        public void clear() {
          done.add("all");
        }

        @Override
        public void whenKept(Runnable action) {
          if (isKept) {
            action.run();
          }
        }
      };
  private Runnable onPurge = () -> {};
  private boolean isKept;
  private long spoiled;
  private final LogState state = begin();

  private LogState begin() {
    return new LogState(local, new PlaceFile(Path.of("none")));
  }

  private static PurgeOrder order(long id) {
    return new PurgeOrder(id, Scope.URL, List.of("http://a.test/" + id), false, 0);
  }

  private static byte[] entry(long... ids) {
    return LogState.purges(LongStream.of(ids).mapToObj(LogStateTest::order).toList());
  }

  private static List<Long> numbers(byte[] answer) {
    List<Long> numbers = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(answer);
    while (in.hasRemaining()) {
      numbers.add(in.getLong());
    }
    return numbers;
  }

  @Test
  void purgesGetNumbersInTheOrderOfTheLog() {
    assertThat(numbers(state.apply(entry(71, 72)))).containsExactly(1L, 2L);
    assertThat(numbers(state.apply(entry(73)))).containsExactly(3L);
    assertThat(done)
        .containsExactly("1 http://a.test/71", "2 http://a.test/72", "3 http://a.test/73");
    assertThat(state.applied()).isEqualTo(3);
    assertThat(state.count(2)).isEqualTo(3);
  }

  @Test
  void aPurgeHasBegunBeforeItIsInTheTable() {
    state.apply(entry(71, 72));
    assertThat(meanwhile).containsExactly("0 of 1", "1 of 2");
    byte[] saved = state.save();
    state.apply(entry(73));
    meanwhile.clear();
    LogState other = begin();
    other.load(saved);
    assertThat(other.begun()).isEqualTo(2);
    state.load(saved);
    assertThat(state.begun()).as("what the table has already").isEqualTo(3);
    state.load(new byte[0]);
    state.apply(entry(71, 72, 73, 74));
    assertThat(state.begun()).isEqualTo(4);
  }

  @Test
  void aRepetitionDoesNothingAndHasItsNumber() {
    state.apply(entry(71, 72));
    assertThat(numbers(state.apply(entry(72, 73)))).containsExactly(2L, 3L);
    assertThat(done).hasSize(3);
  }

  @Test
  void theLogIsPlayedAgainWithoutPurges() {
    byte[] first = entry(71);
    byte[] second = entry(72);
    state.apply(first);
    state.apply(second);
    state.load(new byte[0]);
    assertThat(state.applied()).isZero();
    state.apply(first);
    state.apply(second);
    state.apply(entry(73));
    assertThat(done)
        .containsExactly("1 http://a.test/71", "2 http://a.test/72", "3 http://a.test/73");
  }

  @Test
  void aRestartPurgesWhatTheFileDoesNotHave() {
    Path file = directory.resolve("applied");
    isKept = true;
    LogState before = new LogState(local, new PlaceFile(file));
    byte[] first = entry(71);
    before.apply(first);
    Await.until(() -> Files.exists(file), "the file is written");
    done.clear();
    LogState after = new LogState(local, new PlaceFile(file));
    after.apply(first);
    after.apply(entry(72));
    assertThat(done).containsExactly("2 http://a.test/72");
    Await.until(() -> new PlaceFile(file).read().number() == 2, "the file is written");
  }

  @Test
  void anotherLogDropsAllThatIsStored() {
    state.apply(entry(71));
    done.clear();
    state.load(new byte[0]);
    state.apply(entry(81));
    assertThat(done).containsExactly("all", "1 http://a.test/81");
  }

  @Test
  void aSnapshotGivesWhatWasMissed() {
    LogState other = begin();
    byte[] first = entry(71);
    other.apply(first);
    state.apply(first);
    other.apply(entry(72, 73));
    other.apply(LogState.node("d", true));
    done.clear();
    state.load(other.save());
    assertThat(done).containsExactly("2 http://a.test/72", "3 http://a.test/73");
    assertThat(state.nodes()).containsExactly("d");
    assertThat(state.save()).isEqualTo(other.save());
    assertThat(numbers(state.apply(entry(73)))).containsExactly(3L);
  }

  @Test
  void whoeverIsTooFarBehindDropsAllAndThenPurges() {
    LogState other = begin();
    int count = LogState.KEPT_LIMIT + 1;
    byte[] first = entry(1);
    state.apply(first);
    other.apply(first);
    for (int from = 2; from <= count + 1; from += 1_000) {
      other.apply(entry(LongStream.range(from, Math.min(from + 1_000, count + 2)).toArray()));
    }
    done.clear();
    state.load(other.save());
    assertThat(done.getFirst()).isEqualTo("all");
    assertThat(done).hasSize(1 + LogState.KEPT_LIMIT);
    assertThat(state.applied()).isEqualTo(count + 1);
  }

  @Test
  void whatIsKeptIsBoundedInOctetsToo() {
    String path = "p".repeat(4_000);
    for (int i = 0; i < 60; i++) {
      List<PurgeOrder> orders = new ArrayList<>();
      for (int j = 0; j < 100; j++) {
        String name = "http://a.test/" + i + "/" + j + path;
        orders.add(new PurgeOrder(i * 100L + j, Scope.URL, List.of(name), false, 0));
      }
      state.apply(LogState.purges(orders));
    }
    assertThat(state.save().length).isLessThan(LogState.KEPT_LIMIT_BYTES + 100_000);
    assertThat(state.applied()).isEqualTo(6_000);
  }

  private static byte[] later(String release) {
    byte[] name = release.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(3 + name.length)
        .put((byte) 99)
        .putShort((short) name.length)
        .put(name)
        .array();
  }

  @Test
  void anEntryOfALaterReleaseStops() {
    assertThatThrownBy(() -> state.apply(new byte[] {99, 1}))
        .hasMessageContaining("what this release cannot read");
    assertThatThrownBy(() -> state.apply(later("0.3"))).hasMessageContaining("needs release 0.3");
    assertThatThrownBy(() -> state.apply(later("0.3\nforged")))
        .hasMessageEndingWith("needs a later release");
    assertThatThrownBy(() -> state.apply(new byte[0])).isInstanceOf(IllegalStateException.class);
  }

  /** An order as a later release writes it, or a damaged one. */
  private static byte[] orders(String kind, int names) throws IOException {
    var octets = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(octets)) {
      out.writeByte(LogState.PURGES);
      out.writeLong(7);
      out.writeLong(names);
      out.writeUTF(kind);
      out.writeBoolean(false);
      out.writeLong(0);
      out.writeInt(names);
      for (int i = 0; i < Math.min(names, 10_000); i++) {
        out.writeUTF("https://a.test");
      }
    }
    return octets.toByteArray();
  }

  @Test
  void aPurgeThatCannotBeReadPurgesEverythingAndKeepsTheNumbers() throws IOException {
    for (byte[] entry :
        List.of(
            orders("LATER", 1),
            orders("URL", 0),
            orders("TAG", Integer.MAX_VALUE),
            LogState.purges(List.of(new PurgeOrder(9, Scope.URL, List.of("no URL"), false, 0))))) {
      assertThatThrownBy(() -> state.check(entry)).isInstanceOf(IOException.class);
      assertThat(numbers(state.apply(entry))).containsExactly((long) done.size());
      assertThat(done).containsOnly("all");
    }
    assertThat(state.unread()).isEqualTo(4);
    assertThat(numbers(state.apply(entry(71)))).containsExactly(5L);
    LogState other = begin();
    done.clear();
    other.load(state.save());
    assertThat(other.applied()).isEqualTo(5);
    assertThat(done).containsExactly("all", "all", "all", "all", "5 http://a.test/71");
  }

  @Test
  void aPurgeThatCannotBeCarriedOutPurgesEverything() {
    spoiled = 72;
    assertThat(numbers(state.apply(entry(71, 72, 73)))).containsExactly(1L, 2L, 3L);
    assertThat(done).containsExactly("1 http://a.test/71", "all", "3 http://a.test/73");
  }

  @Test
  void whoeverWaitsForANumberIsToldOnceItIsApplied() {
    List<String> told = new ArrayList<>();
    state.whenApplied(0, () -> told.add("nothing"));
    state.whenApplied(2, () -> told.add("two"));
    state.apply(entry(71));
    assertThat(told).containsExactly("nothing");
    state.apply(entry(72, 73));
    assertThat(told).containsExactly("nothing", "two");
  }

  @Test
  void ofVeryManyQuestionsTheOldestGetsNoAnswerAndThisNodeIsToldOfItsOwn() {
    List<String> told = new ArrayList<>();
    state.whenApplied(1, () -> told.add("own"));
    for (int i = 0; i < LogState.QUESTIONS_LIMIT; i++) {
      String name = "question " + i;
      state.answerWhenApplied(i == 0 ? 1 : 2, () -> told.add(name));
    }
    state.apply(entry(71));
    assertThat(told).containsExactly("own", "question 0");
    told.clear();
    state.whenApplied(2, () -> told.add("own"));
    state.answerWhenApplied(2, () -> told.add("at the limit"));
    state.answerWhenApplied(2, () -> told.add("one beyond"));
    state.apply(entry(72));
    assertThat(told)
        .startsWith("own", "question 2")
        .endsWith("at the limit", "one beyond")
        .hasSize(1 + LogState.QUESTIONS_LIMIT);
    told.clear();
    state.whenApplied(3, () -> told.add("own"));
    for (int i = 0; i < 3 * LogState.QUESTIONS_LIMIT; i++) {
      String name = "question " + i;
      state.answerWhenApplied(3, () -> told.add(name));
    }
    state.apply(entry(73));
    assertThat(told)
        .startsWith("own", "question " + 2 * LogState.QUESTIONS_LIMIT)
        .hasSize(1 + LogState.QUESTIONS_LIMIT);
  }

  @Test
  void ofVeryManyPurgesTheCountOfTheFirstIsForgotten() {
    state.apply(entry(LongStream.rangeClosed(1, LogState.COUNTS_LIMIT).toArray()));
    assertThat(state.count(1)).isEqualTo(3);
    state.apply(entry(LogState.COUNTS_LIMIT + 1));
    assertThat(state.count(1)).isZero();
    assertThat(state.count(2)).isEqualTo(3);
    state.apply(
        entry(
            LongStream.rangeClosed(LogState.COUNTS_LIMIT + 2, 3L * LogState.COUNTS_LIMIT)
                .toArray()));
    assertThat(state.count(2L * LogState.COUNTS_LIMIT)).isZero();
    assertThat(state.count(2L * LogState.COUNTS_LIMIT + 1)).isEqualTo(3);
    assertThat(state.count(3L * LogState.COUNTS_LIMIT)).isEqualTo(3);
  }

  @Test
  void theLastEntriesAreShown() {
    List<String> shown = new ArrayList<>();
    for (int i = 1; i <= 3 * LogState.LAST_LIMIT; i++) {
      state.apply(LogState.node("n" + i, true));
      shown.addFirst("node n" + i);
      assertThat(state.lastEntries()).isEqualTo(shown.subList(0, Math.min(i, LogState.LAST_LIMIT)));
    }
    assertThat(state.nodes()).hasSize(3 * LogState.LAST_LIMIT);
  }

  /** A scrape of metrics asks for both. */
  @Test
  void theNodesAndTheLogAreToldWhileAPurgeIsCarriedOut() {
    state.apply(LogState.node("d", true));
    state.apply(entry(70));
    long log = state.log();
    List<Object> seen = new ArrayList<>();
    onPurge =
        () ->
            seen.addAll(
                CompletableFuture.supplyAsync(() -> List.of(state.nodes(), state.log()))
                    .orTimeout(5, TimeUnit.SECONDS)
                    .join());
    state.apply(entry(71));
    assertThat(seen).containsExactly(Set.of("d"), log);
    assertThat(state.applied()).isEqualTo(2);
  }

  /** Else no node of the new log could be asked for what it owns. */
  @Test
  void inAnotherLogTheNumbersBeginAnew() {
    state.apply(entry(71, 72, 73));
    state.load(new byte[0]);
    assertThat(state.begun()).as("what the table has until the log is known").isEqualTo(3);
    state.apply(entry(81));
    assertThat(done).endsWith("all", "1 http://a.test/81");
    assertThat(state.begun()).isEqualTo(1);
  }

  @Test
  void hostileOctetsAreRefused() {
    byte[] whole = entry(71, 72);
    Random random = new Random(20261128);
    for (int i = 0; i < 5_000; i++) {
      byte[] spoiled = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
      spoiled[random.nextInt(spoiled.length)] = (byte) random.nextInt();
      try {
        begin().apply(spoiled);
      } catch (IllegalStateException refused) {
        assertThat(refused).hasCauseInstanceOf(IOException.class);
      }
    }
    byte[] damaged = state.save();
    assertThatThrownBy(() -> state.load(Arrays.copyOf(damaged, damaged.length - 1)))
        .isInstanceOf(IllegalStateException.class);
  }
}
