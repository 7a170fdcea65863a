package io.kamille.cache.memory;

import java.util.List;

/**
 * Where in the memory something lies. Immutable.
 *
 * @param cellBytes what one cell stands for; the last may stand for less
 * @param used the part of each cell that is taken, 0 to 1, from the arena's start on
 * @param longestFreeBytes the longest free run within 64 KiB, nearly
 */
public record ArenaMap(long cellBytes, List<Double> used, long longestFreeBytes) {

  public ArenaMap {
    used = List.copyOf(used);
  }
}
