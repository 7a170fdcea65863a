package io.kamille.cluster.secret;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What the log keeps of values, whoever has appended them. */
class LoggedValuesTest {

  private final LoggedValues values = new LoggedValues();

  private static DataInputStream in(byte[] octets, int from) {
    return new DataInputStream(new ByteArrayInputStream(octets, from, octets.length - from));
  }

  /** The number of the change; 0 if it is refused. */
  private long put(String name, int octets) throws IOException {
    return apply(LoggedValues.entry(name, new byte[octets]));
  }

  private long apply(byte[] entry) throws IOException {
    return ByteBuffer.wrap(values.read(in(entry, 1)).get()).getLong();
  }

  @Test
  void theLastValueOfANameCounts() throws Exception {
    assertThat(apply(LoggedValues.entry("a/1", "old".getBytes(UTF_8)))).isEqualTo(1);
    assertThat(apply(LoggedValues.entry("a/1", "new".getBytes(UTF_8)))).isEqualTo(2);
    assertThat(put("a/2", 1)).isEqualTo(3);
    assertThat(put("b", 1)).isEqualTo(4);
    assertThat(values.get("a/1")).asString(UTF_8).isEqualTo("new");
    assertThat(values.under("a/")).containsOnlyKeys("a/1", "a/2");
    assertThat(put("a/1", 0)).isEqualTo(5);
    assertThat(values.get("a/1")).isNull();
    assertThat(values.await(5, Duration.ZERO)).isTrue();
    assertThat(values.await(6, Duration.ZERO)).isFalse();
  }

  @Test
  void aSnapshotHasAllOfThem() throws Exception {
    put("a", 3);
    put("ü", 5);
    put("a", 0);
    var octets = new ByteArrayOutputStream();
    values.save(new DataOutputStream(octets));
    LoggedValues copy = new LoggedValues();
    copy.load(in(octets.toByteArray(), 0));
    assertThat(copy.under("")).containsOnlyKeys("ü");
    assertThat(copy.get("ü")).hasSize(5);
    assertThat(copy.await(3, Duration.ZERO)).as("their number, too").isTrue();
  }

  @Test
  void whatIsTakenIsInASnapshotToo() throws IOException {
    Random random = new Random(5);
    Map<String, byte[]> taken = new TreeMap<>();
    for (int i = 0; i < 400; i++) {
      String name =
          "n".repeat(random.nextInt(5) == 0 ? 1_020 + random.nextInt(8) : 1) + "\u00fc" + i;
      byte[] value = new byte[random.nextInt(5) == 0 ? 65_530 + random.nextInt(12) : 1 + i];
      random.nextBytes(value);
      byte[] entry;
      try {
        entry = LoggedValues.entry(name, value);
      } catch (IllegalArgumentException refused) {
        continue;
      }
      if (apply(entry) > 0) {
        taken.put(name, value);
      }
    }
    var octets = new ByteArrayOutputStream();
    values.save(new DataOutputStream(octets));
    LoggedValues copy = new LoggedValues();
    copy.load(in(octets.toByteArray(), 0));
    assertThat(taken).hasSizeBetween(200, 399);
    assertThat(copy.under("")).containsOnlyKeys(taken.keySet());
    taken.forEach((name, value) -> assertThat(copy.get(name)).isEqualTo(value));
  }

  /** Its length would be that of another name. */
  @Test
  void aNameOfMoreThanAnEntryCanSayIsNotWritten() {
    assertThatThrownBy(() -> LoggedValues.entry("n".repeat(65_537), new byte[1]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whatIsTooLargeOrTooMuchIsRefused() throws IOException {
    assertThat(put("large", 10 << 20)).isZero();
    assertThat(put("n".repeat(2_000), 1)).isZero();
    for (int i = 0; i < LoggedValues.MOST; i++) {
      assertThat(put("challenge/" + i, 1)).isPositive();
    }
    assertThat(put("one more", 1)).isZero();
    assertThat(put("challenge/1", 2)).as("in the place of another").isPositive();
    values.clear();
    int many = LoggedValues.MOST_OCTETS / LoggedValues.MOST_OCTETS_OF_ONE;
    for (int i = 0; i < many; i++) {
      put("v" + i, LoggedValues.MOST_OCTETS_OF_ONE);
    }
    assertThat(values.under("")).hasSizeBetween(many - 1, many);
    assertThat(put("w", LoggedValues.MOST_OCTETS_OF_ONE)).isZero();
    assertThat(put("v0", 0)).isPositive();
    assertThat(put("w", LoggedValues.MOST_OCTETS_OF_ONE / 2)).as("there is room").isPositive();
  }

  /** The log goes on, the same at each node. */
  @Test
  void garbageChangesNothing() throws IOException {
    Random random = new Random(20261128);
    byte[] entry = LoggedValues.entry("name", new byte[20]);
    for (int i = 0; i < 1_000; i++) {
      byte[] spoiled = Arrays.copyOf(entry, 1 + random.nextInt(entry.length));
      spoiled[random.nextInt(spoiled.length)] = (byte) random.nextInt();
      apply(spoiled);
    }
    assertThat(apply(new byte[1])).isZero();
    assertThat(apply(new byte[] {0, 0, 9, 'x'})).isZero();
    assertThat(apply(new byte[] {0, -1, -1, 'x'})).isZero();
    assertThat(apply(new byte[] {0, 0, 1, -1, 'x'})).as("no UTF-8").isZero();
  }
}
