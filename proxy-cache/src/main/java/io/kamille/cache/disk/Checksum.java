package io.kamille.cache.disk;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The checksum of all that lies in our files. Stateless. */
public final class Checksum {

  private Checksum() {}

  /** That of those octets, {@code end} not included. */
  public static int of(byte[] octets, int start, int end) {
    return of(ByteBuffer.wrap(octets, start, end - start));
  }

  /** That of what remains in these, one after the other; their positions stay. */
  static int of(ByteBuffer... parts) {
    CRC32C checksum = new CRC32C();
    for (ByteBuffer part : parts) {
      checksum.update(part.duplicate());
    }
    return (int) checksum.getValue();
  }
}
