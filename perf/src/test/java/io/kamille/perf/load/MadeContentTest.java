package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MadeContentTest {

  /** Longer than the block, so that its end is passed. */
  private static final int LENGTH = 2_500_000;

  private final ByteBuffer block = MadeContent.block();

  private static ByteBuffer octets(MadeContent content, int offset, int length) {
    ByteBuffer octets = ByteBuffer.allocateDirect(length);
    while (octets.hasRemaining()) {
      ByteBuf slice = content.slice(offset + octets.position(), octets.remaining());
      octets.put(slice.nioBuffer());
    }
    return octets.flip();
  }

  @Test
  void whatIsSentIsWhatIsExpectedHoweverItIsCut() {
    MadeContent content = MadeContent.of(false, 17, 3);
    ByteBuffer all = octets(content, 0, LENGTH);
    for (int offset = 0; offset < LENGTH; offset += 99_991) {
      ByteBuffer rest = all.duplicate().position(offset);
      assertThat(content.matches(block, offset, rest)).isTrue();
      assertThat(rest.position()).isEqualTo(offset);
      assertThat(rest.limit()).isEqualTo(LENGTH);
    }
  }

  @Test
  void oneWrongOctetIsNoticed() {
    MadeContent content = MadeContent.of(17);
    for (int wrong : new int[] {0, 999_999, 1_000_003, LENGTH - 1}) {
      ByteBuffer all = octets(content, 0, LENGTH);
      all.put(wrong, (byte) ~all.get(wrong));
      assertThat(content.matches(block, 0, all)).isFalse();
    }
  }

  @Test
  void octetsFromAnotherPlaceAreWrong() {
    MadeContent content = MadeContent.of(17);
    for (int distance = 1; distance < LENGTH / 2; distance *= 2) {
      assertThat(content.matches(block, 0, octets(content, distance, 64))).isFalse();
    }
  }

  @Test
  void objectsAndVersionsDiffer() {
    Set<MadeContent> seen = new HashSet<>();
    for (int object = 0; object < 30; object++) {
      for (int version = 0; version < 10; version++) {
        seen.add(MadeContent.of(false, object, version));
      }
    }
    assertThat(seen).hasSize(300);
  }
}
