package io.kamille.cache.serve;

import io.kamille.cache.store.StoredOctets;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Has octets that lie in a file read into the kernel's memory before they are sent. Confined to the
 * client's loop.
 */
final class FileFetch {

  private final StoredOctets octets;
  private final Executor loop;
  private final Runnable onward;
  private long thereUpTo;
  private boolean isUnderWay;

  /**
   * Nothing has been read yet.
   *
   * @param octets borrowed: whoever asks holds a lease
   * @param loop runs tasks on the client's loop
   * @param onward run there when what was asked for can be sent
   */
  FileFetch(StoredOctets octets, Executor loop, Runnable onward) {
    this.octets = octets;
    this.loop = loop;
    this.onward = onward;
  }

  /** Whether those octets can be sent now; if not, sees to it. Asked in order. */
  boolean has(long offset, long length) {
    long end = offset + length;
    if (thereUpTo >= end) {
      return true;
    }
    if (isUnderWay) {
      return false;
    }
    isUnderWay = true;
    if (octets.fetch(offset, length, () -> comeBack(end))) {
      isUnderWay = false;
      thereUpTo = end;
    }
    return thereUpTo >= end;
  }

  /** On the thread that has read. */
  private void comeBack(long end) {
    try {
      loop.execute(() -> arrived(end));
    } catch (RejectedExecutionException atItsEnd) {
      // the loop closes its connections, and with them whoever waits
    }
  }

  private void arrived(long end) {
    isUnderWay = false;
    thereUpTo = end;
    onward.run();
  }
}
