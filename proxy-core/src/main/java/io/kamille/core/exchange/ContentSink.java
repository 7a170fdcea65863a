package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import org.jspecify.annotations.Nullable;

/**
 * Takes content chunk by chunk, then exactly one of {@link #end} or {@link #abort}. Confined to the
 * exchange's loop.
 */
public interface ContentSink {

  /** Takes one chunk. Takes ownership: released once passed on or dropped. */
  void write(ByteBuf chunk);

  /**
   * Whether content may come as regions of files at this moment: it goes to a socket as it is,
   * neither encrypted nor framed.
   */
  default boolean takesRegions() {
    return false;
  }

  /**
   * Takes one chunk that lies in a file, if the sink {@link #takesRegions}. Takes ownership:
   * released once the socket has taken all of it, or it was dropped. The source is paused until
   * then.
   *
   * @throws IllegalStateException if the sink takes no regions
   */
  default void write(FileRegion region) {
    region.release();
    throw new IllegalStateException("region: " + region + " (expected: a chunk in memory)");
  }

  /** The content is complete. Trailer fields are borrowed until the call returns. */
  void end(@Nullable Fields trailers);

  /** The content breaks off: what came so far must never pass for complete. */
  void abort(Failure why);
}
