package io.kamille.cache.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory of an arena while another process has it too. What is stored stays where it is, for
 * both to read; what was free is the other's to write to. One thread.
 */
public final class ArenaGrant {

  /*
   * The arena that grants has nothing free any more, so it never writes where the other reads or
   * writes. What comes free here stays as it is: the other may have it in its index. It is neither
   * given out nor renewed.
   */
  private final Arena arena;
  private final MemoryFile file;
  private final Renewal renewal;
  private final long granules;
  private final long[] blocks;

  private ArenaGrant(Arena arena, MemoryFile file) {
    this.arena = arena;
    this.file = file;
    renewal = arena.renewal();
    renewal.hold();
    granules = arena.ledger().close();
    blocks = collect(arena, granules);
  }

  /**
   * Lends what is free in an arena, which stores nothing more. Once, until it is taken back.
   *
   * @return null if its memory is no file
   */
  public static @Nullable ArenaGrant of(Arena arena) {
    MemoryFile file = arena.file();
    return file == null ? null : new ArenaGrant(arena, file);
  }

  /** All that many granules of the maps. */
  static long[] collect(Arena arena, long granules) {
    Blocks collected = new Blocks() {};
    arena.collect(collected, granules, 0);
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; collected.block(i) != Block.NONE; i++) {
      blocks.add(collected.block(i));
    }
    return blocks.stream().mapToLong(Long::longValue).toArray();
  }

  /** Whether the other can have the file, as a descriptor that stays ours. */
  public int descriptor() {
    return file.descriptor();
  }

  public long capacityBytes() {
    return arena.capacityBytes();
  }

  /** How many processes had the memory before the other. */
  public long generation() {
    return file.generation() + 1;
  }

  /** What is the other's to write to. */
  public long[] freeBlocks() {
    return blocks.clone();
  }

  /**
   * The other is gone: we have everything again. What it may have sent is renewed first.
   *
   * @return false if it is not gone; nothing has changed then
   */
  public boolean takeBack() {
    if (!file.isFirst()) {
      return false;
    }
    renewal.goOn();
    arena.ledger().reopen(granules);
    for (long block : blocks) {
      renewal.give(block);
    }
    return true;
  }
}
