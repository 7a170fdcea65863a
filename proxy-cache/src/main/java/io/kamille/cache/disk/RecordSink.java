package io.kamille.cache.disk;

import io.netty.buffer.ByteBuf;

/** Takes a response from the disk, piece by piece, on the thread that reads. */
public interface RecordSink {

  /**
   * Is told what is coming.
   *
   * @param sequence what was given with the response when it was written
   * @param contentLength octets of content
   * @return false if it is not wanted
   */
  boolean begin(StoredHead head, long sequence, int contentLength);

  /**
   * Takes the next octets: of the encoded head at first, then of the content. They are proven only
   * when all have been read. Borrows them until it returns.
   *
   * @return false to read no further
   */
  boolean append(ByteBuf octets);
}
