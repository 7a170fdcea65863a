package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;

/** What becomes of header sections, and of what else differs between the sides of a connection. */
interface SectionIntake {

  /** Decodes sections for the reader of frames. */
  Http2HeadersDecoder decoder();

  /** A section begins. Returns false if none may come on this stream: the connection has failed. */
  boolean begins(int id);

  /** A section is complete. */
  void complete(int id, boolean isLast);

  /** A section was malformed. */
  void malformed(int id, ErrorCode code);

  /** A burst of reads is over. */
  default void handOn() {}

  /** The connection is gone. */
  default void release() {}

  /** What the reset of a stream costs the other side that is not answered yet. */
  int costOfReset();

  /** Whether the other side may set these. */
  default boolean maySet(Http2Settings given) {
    return true;
  }

  /**
   * The other side states a priority in these octets, which are at least a stream's id. Returns
   * false if it may not.
   */
  boolean priorityUpdate(ByteBuf payload);

  /** The other side has set its settings. */
  default void settings(Http2Settings given) {}

  /** The other side takes no streams above this one. */
  default void goAway(int lastId) {}
}
