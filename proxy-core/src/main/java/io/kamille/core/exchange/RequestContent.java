package io.kamille.core.exchange;

/** The content that a request carries. Confined to the exchange's loop. */
public interface RequestContent extends ContentSource {

  /** What {@link #length} answers when only the end of the content will tell. */
  long UNKNOWN_LENGTH = -1;

  /** No content. */
  RequestContent NONE =
      new RequestContent() {
        @Override
        public long length() {
          return 0;
        }

        @Override
        public void start(ContentSink sink) {
          sink.end(null);
        }

        @Override
        public void tunnel(ContentSink sink) {
          sink.end(null);
        }

        @Override
        public void pause() {}

        @Override
        public void resume() {}

        @Override
        public void cancel(Failure why) {}
      };

  /** Octets to come, 0 for none, {@link #UNKNOWN_LENGTH} when chunked. */
  long length();

  /** Whether the client has been asked for it: nothing is left to expect (RFC 9110 §10.1.1). */
  default boolean isAskedFor() {
    return false;
  }

  /**
   * Begins to deliver into {@code sink}; at most once. If the client waits for {@code 100
   * (Continue)}, it gets it now (RFC 9110 §10.1.1). Content that nobody starts is read and dropped
   * by the connection, or ends it.
   */
  void start(ContentSink sink);

  /**
   * After a {@code 101 (Switching Protocols)} head was given to the reply: delivers everything the
   * client sends from now on, octet by octet, until it closes its side (RFC 9110 §7.8).
   */
  void tunnel(ContentSink sink);
}
