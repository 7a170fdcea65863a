package io.kamille.cache.store;

import io.netty.buffer.ByteBuf;

/** Takes slices of stored octets, one after another. */
@FunctionalInterface
public interface SliceConsumer {

  /** Takes ownership of {@code slice}; releasing it ends its lease. */
  void accept(ByteBuf slice);
}
