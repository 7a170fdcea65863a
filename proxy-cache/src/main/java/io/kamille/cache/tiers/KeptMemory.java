package io.kamille.cache.tiers;

import io.kamille.core.socket.Descriptors;

/**
 * The memory of a cache on its way to another process. Owned by who has it; closed once.
 *
 * @param arena descriptor of the memory
 * @param manifest descriptor of what lies where in it
 */
public record KeptMemory(int arena, int manifest) implements AutoCloseable {

  @Override
  public void close() {
    Descriptors.close(arena);
    Descriptors.close(manifest);
  }
}
