package io.kamille.core.socket;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;

/** What waits for a client in front of its channel. Confined to the loop. */
public interface KeptBack {

  /** Nothing. */
  KeptBack NONE = _ -> {};

  /** Lends each buffer until {@code action} returns. */
  void forEach(Consumer<ByteBuf> action);
}
