package io.kamille.core.metric;

/** What one loop has answered so far. Asked on that loop, about a hundred times a second. */
public interface AnswerCounts {

  /** Nobody counts. */
  AnswerCounts NONE =
      new AnswerCounts() {
        @Override
        public long requests() {
          return 0;
        }

        @Override
        public long forwarded() {
          return 0;
        }

        @Override
        public long forwardedNanos() {
          return 0;
        }
      };

  /** Requests that are over. */
  long requests();

  /** Those of them that an origin was asked about. */
  long forwarded();

  /** How long those took in all, in nanoseconds. */
  long forwardedNanos();
}
