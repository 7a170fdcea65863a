package io.kamille.cache.memory;

import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/** What stored octets are sent in. */
final class SentPieces {

  private SentPieces() {}

  /** What all of {@code stored} is sent in; the caller releases them. */
  static List<Object> of(StoredBytes stored) {
    return of(stored, 0, stored.length());
  }

  static List<Object> of(StoredBytes stored, long offset, long length) {
    List<Object> pieces = new ArrayList<>();
    stored.send(offset, length, pieces::add);
    return pieces;
  }

  /** Sends everything once, by regions where possible, and drops it. */
  static void drop(StoredBytes stored) {
    of(stored).forEach(ReferenceCountUtil::release);
  }

  static List<FileRegion> regions(List<Object> pieces) {
    return pieces.stream()
        .filter(FileRegion.class::isInstance)
        .map(FileRegion.class::cast)
        .toList();
  }
}
