package io.kamille.core.exchange;

/**
 * The reins of whoever pushes content into a {@link ContentSink}. Confined to the exchange's loop.
 */
public interface ContentSource {

  /** A source that has nothing to hold back: what it gives is given at once. */
  ContentSource NONE =
      new ContentSource() {
        @Override
        public void pause() {}

        @Override
        public void resume() {}

        @Override
        public void cancel(Failure why) {}
      };

  /** Asks for no more chunks until {@link #resume}; what is already on its way may still come. */
  void pause();

  /** Ends a pause. Without one before, does nothing. */
  void resume();

  /** The sink wants nothing more. The source stops, and calls the sink no more. Idempotent. */
  void cancel(Failure why);
}
