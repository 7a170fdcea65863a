package io.kamille.core.content;

import io.kamille.core.failure.Failure;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Takes content chunk by chunk, then exactly one of {@link #end} or {@link #abort}. Confined to the
 * exchange's loop.
 */
public interface ContentSink {

  /** Takes one chunk. Takes ownership: released once passed on or dropped. */
  void write(ByteBuf chunk);

  /** The content is complete. Trailer fields are borrowed until the call returns. */
  void end(@Nullable Fields trailers);

  /** The content breaks off: what came so far must never pass for complete. */
  void abort(Failure why);
}
