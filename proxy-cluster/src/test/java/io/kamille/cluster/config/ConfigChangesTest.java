package io.kamille.cluster.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.engine.PlaceFile.Place;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What the log takes of changes, its snapshot gives back. */
class ConfigChangesTest {

  private static final int LIMIT_BYTES = 4 << 20;

  private final ConfigChanges changes = new ConfigChanges();

  /** The number of the change; 0 if it is refused. */
  private long put(byte[] text) throws IOException {
    byte[] entry = ConfigChanges.entry(changes.last() + 7, changes.last(), text);
    var in = new DataInputStream(new ByteArrayInputStream(entry, 1, entry.length - 1));
    return ByteBuffer.wrap(changes.read(in).get()).getLong();
  }

  private String lastOfASnapshot() throws Exception {
    var octets = new ByteArrayOutputStream();
    changes.save(new DataOutputStream(octets));
    ConfigChanges copy = new ConfigChanges();
    copy.load(new DataInputStream(new ByteArrayInputStream(octets.toByteArray())));
    assertThat(copy.last()).isEqualTo(changes.last());
    ConfigChanges.Change first = copy.after(Place.NONE, Duration.ZERO);
    return first == null ? "" : first.text();
  }

  @Test
  void aTextIsTakenUpToTheLimitAndRefusedBeyond() throws Exception {
    byte[] text = "é".repeat(LIMIT_BYTES / 2).getBytes(StandardCharsets.UTF_8);
    assertThat(put(Arrays.copyOf(text, LIMIT_BYTES + 1))).isZero();
    assertThat(put(Arrays.copyOf(text, 5 * LIMIT_BYTES))).isZero();
    assertThat(put(text)).isEqualTo(1);
    assertThat(lastOfASnapshot()).isEqualTo(new String(text, StandardCharsets.UTF_8));
  }

  /** Each octet of it would become three. */
  @Test
  void whatIsNoTextIsRefusedAndTheSnapshotStaysReadable() throws Exception {
    byte[] noText = new byte[LIMIT_BYTES];
    Arrays.fill(noText, (byte) 0xff);
    assertThat(put("a: 1".getBytes(StandardCharsets.UTF_8))).isEqualTo(1);
    assertThat(put(noText)).isZero();
    assertThat(lastOfASnapshot()).isEqualTo("a: 1");
  }
}
