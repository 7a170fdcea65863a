package io.kamille.core.content;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.netty.util.ReferenceCounted;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Content that a {@link Pump} pulls: octets in memory, in a file, or still to come. Never calls
 * whoever gets it. Confined to its loop.
 */
public interface Pieces {

  /**
   * How content comes to its end.
   *
   * @param trailers trailer fields, if it is complete and has any
   * @param why what broke it off; null if it is complete
   */
  record End(@Nullable Fields trailers, @Nullable Failure why) {

    /** All is there, without trailers. */
    public static final End COMPLETE = new End(null, null);

    /** The end of complete content. Borrows the trailers. */
    public static End of(@Nullable Fields trailers) {
      return trailers == null ? COMPLETE : new End(trailers.copy(), null);
    }

    /** It breaks off. */
    public static End broken(Failure why) {
      return new End(null, why);
    }
  }

  /**
   * Adds the next window: as many pieces as may be given before a slow taker can say so, each a
   * {@code ByteBuf} or a {@code FileRegion}. The caller owns them. Adds nothing if none is at hand;
   * then {@link #whenMore} is told of the next ones.
   *
   * @param window empty
   */
  void next(Queue<ReferenceCounted> window);

  /** The end, when all pieces were taken, or as soon as the content is broken; else null. */
  @Nullable End ending();

  /** What to run on the loop when more is at hand, or the end. */
  void whenMore(Runnable more);

  /**
   * Nothing more is wanted: frees what is left. Idempotent.
   *
   * @param why null if the end was told
   */
  void close(@Nullable Failure why);
}
