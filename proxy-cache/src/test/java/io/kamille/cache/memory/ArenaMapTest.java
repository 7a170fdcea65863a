package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Where in the memory something lies. */
class ArenaMapTest {

  @Test
  void aCellTellsWhichPartOfItIsTaken() {
    try (Arena arena = Arena.open(1 << 20, 1)) {
      assertThat(arena.map(256).used()).hasSize(16).containsOnly(0.0);
      StoredBytes stored =
          Objects.requireNonNull(arena.store(Unpooled.wrappedBuffer(new byte[96 << 10]), 0));
      ArenaMap map = arena.map(256);
      assertThat(map.cellBytes()).isEqualTo(64 << 10);
      assertThat(map.used().stream().mapToDouble(Double::doubleValue).sum()).isEqualTo(1.5);
      assertThat(map.longestFreeBytes()).isEqualTo(64 << 10);
      assertThat(arena.map(3).used()).hasSize(3);
      stored.release();
      assertThat(arena.map(256).used()).containsOnly(0.0);
    }
  }

  @Test
  void aLargeMemoryIsLookedAtInPlaces() {
    try (Arena arena = Arena.open(1L << 32)) {
      assertThat(arena.map(256).used()).hasSize(256).containsOnly(0.0);
      assertThat(arena.map(256).cellBytes()).isEqualTo(1L << 24);
    }
  }
}
