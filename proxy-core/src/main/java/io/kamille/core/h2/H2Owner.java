package io.kamille.core.h2;

import io.kamille.core.http.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;

/** Who has one connection: the socket below it, and the streams on it. Confined to its loop. */
public interface H2Owner {

  // The socket

  ByteBufAllocator allocator();

  /** Queues octets; they leave at the end of this burst. Takes ownership. */
  void write(ByteBuf octets);

  /** Whether the other side takes what it is sent. */
  boolean isWritable();

  /** Whether so much waits for the other side that nothing more may be asked of us. */
  boolean isOverfull();

  // How streams and the connection end

  /** A stream is over, whichever way. */
  void over(H2Stream stream);

  /** The connection has to be closed once what is queued has left. */
  void failed(Http2Error code, String reason);

  /** Who answers requests. */
  interface Server extends H2Owner {

    /** Whether requests may have another scheme than the connection. */
    default boolean believesScheme() {
      return false;
    }

    /** An empty head for the next request. */
    RequestHead newHead();

    /**
     * A request came; {@link #begin} follows at the end of the burst, unless the stream is over by
     * then.
     *
     * @param carrier for the stream
     * @param head from {@link #newHead}
     * @param contentLength -1 if the request does not say
     * @param isLast whether no content follows
     */
    H2Stream opened(
        H2Stream.Carrier carrier,
        int id,
        RequestHead head,
        RequestSink.Verdict verdict,
        long contentLength,
        boolean isLast);

    /** Hands the request of this stream on. */
    void begin(H2Stream stream);
  }

  /** Who sends requests. */
  interface Client extends H2Owner {

    /** What the other side allows, which may change at any time (RFC 9113 §6.5). */
    void settings(Http2Settings given);

    /**
     * The other side takes no more streams, and has done nothing for those above this id (RFC 9113
     * §6.8).
     */
    void goAway(int lastId);
  }
}
