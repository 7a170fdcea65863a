package io.kamille.perf.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A GET ready to be sent, and the one response that is right. Confined to the client's thread. */
public final class LoadRequest {

  private final ByteBuffer persistent;
  private final ByteBuffer last;
  private final int status;
  private final ByteBuffer content;

  private LoadRequest(String head, int status, byte[] content) {
    this.persistent = direct((head + "\r\n").getBytes(StandardCharsets.US_ASCII));
    this.last = direct((head + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    this.status = status;
    this.content = direct(content);
  }

  /**
   * A request that is to be answered with 200 and this content.
   *
   * @param authority for the Host field
   * @param target in origin form
   */
  public static LoadRequest get(String authority, String target, byte[] content) {
    return new LoadRequest(
        "GET " + target + " HTTP/1.1\r\nHost: " + authority + "\r\n", 200, content);
  }

  private static ByteBuffer direct(byte[] octets) {
    return ByteBuffer.allocateDirect(octets.length).put(octets).flip();
  }

  /** What to send, from its first octet. Borrowed until the next call. */
  ByteBuffer octets(boolean isLastOnItsConnection) {
    return (isLastOnItsConnection ? last : persistent).rewind();
  }

  int status() {
    return status;
  }

  int contentLength() {
    return content.capacity();
  }

  /** Whether all that is left in {@code octets} stands in the content from {@code offset} on. */
  boolean hasContent(int offset, ByteBuffer octets) {
    content.limit(offset + octets.remaining()).position(offset);
    return content.mismatch(octets) < 0;
  }
}
