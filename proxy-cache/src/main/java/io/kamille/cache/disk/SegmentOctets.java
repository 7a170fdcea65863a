package io.kamille.cache.disk;

import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultFileRegion;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The encoded head of a proven record, on the heap, and its content, which stays in the segment.
 *
 * <p>Any thread. Begins with one lease, the creator's. Holds a lease on the segment until its own
 * last lease ends: so neither a removal nor the end of the segment concerns what is being sent.
 */
final class SegmentOctets implements StoredOctets {

  /*
   * A region that is sent makes the loop wait for the disk if its pages are not in the kernel's
   * memory. So they are brought there before, by a thread that may wait. The kernel may take them
   * away again in between; that is rare, and costs a wait, not an octet.
   *
   * If too much waits for those threads already, the region is sent as it is: a client in the
   * middle of its response is not let down.
   */
  private final Segment segment;
  private final byte[] head;
  private final long contentPosition;
  private final long contentLength;
  private final long fetchedLength;
  private final Executor readers;
  private final Consumer<IOException> whenBroken;
  private final AtomicInteger leases = new AtomicInteger(1);
  private final AtomicInteger hits = new AtomicInteger();

  /**
   * Takes over one lease on the segment.
   *
   * @param contentPosition where the content begins in the segment
   * @param fetchedLength how much of it is in the kernel's memory already
   * @param readers threads that may wait for the disk
   * @param whenBroken told when they cannot read
   */
  SegmentOctets(
      Segment segment,
      byte[] head,
      long contentPosition,
      long contentLength,
      long fetchedLength,
      Executor readers,
      Consumer<IOException> whenBroken) {
    this.segment = segment;
    this.head = head;
    this.contentPosition = contentPosition;
    this.contentLength = contentLength;
    this.fetchedLength = fetchedLength;
    this.readers = readers;
    this.whenBroken = whenBroken;
  }

  @Override
  public boolean tryRetain() {
    return leases.getAndUpdate(held -> held == 0 ? 0 : held + 1) > 0;
  }

  @Override
  public void retain() {
    if (!tryRetain()) {
      throw ended();
    }
  }

  @Override
  public void release() {
    int before = leases.getAndUpdate(held -> held == 0 ? 0 : held - 1);
    if (before == 0) {
      throw ended();
    }
    if (before == 1) {
      segment.release();
    }
  }

  @Override
  public long length() {
    return head.length + contentLength;
  }

  /** Nothing of memory that is accounted for. */
  @Override
  public long occupiedBytes() {
    return 0;
  }

  /** The head and the content. */
  @Override
  public int blockCount() {
    return 2;
  }

  @Override
  public boolean isInFile() {
    return true;
  }

  @Override
  public boolean countSending() {
    return true;
  }

  @Override
  public void countHit() {
    hits.incrementAndGet();
  }

  @Override
  public int hits() {
    return hits.get();
  }

  @Override
  public boolean fetch(long offset, long length, Runnable whenThere) {
    long from = offset - head.length;
    if (from + length <= fetchedLength) {
      return true;
    }
    retain();
    try {
      readers.execute(() -> fetchNow(contentPosition + from, length, whenThere));
      return false;
    } catch (RejectedExecutionException full) {
      release();
      return true;
    }
  }

  /** Ends a lease; if it is the last, nobody sends any more. */
  private void fetchNow(long position, long length, Runnable whenThere) {
    try {
      if (leases.get() > 1) {
        segment.fetch(position, length);
      }
    } catch (IOException e) {
      whenBroken.accept(e);
    } finally {
      release();
      whenThere.run();
    }
  }

  @Override
  public void send(long offset, long length, Consumer<? super ReferenceCounted> sink) {
    checkReadable(offset, length);
    if (offset < head.length) {
      throw new IndexOutOfBoundsException(
          "offset: " + offset + " (expected: >= " + head.length + ", where the content begins)");
    }
    retain();
    sink.accept(new Region(segment.channel(), contentPosition + offset - head.length, length));
  }

  @Override
  public void forEachSlice(long offset, long length, Consumer<ByteBuf> consumer) {
    consumer.accept(slice(offset, (int) length));
  }

  /** Of the head only. */
  @Override
  public ByteBuf slice(long offset, int length) {
    checkReadable(offset, length);
    return Unpooled.wrappedBuffer(head, (int) offset, checkHead(offset, length));
  }

  /** Of the head only. */
  @Override
  public void copyTo(long offset, byte[] target, int targetOffset, int length) {
    checkReadable(offset, length);
    System.arraycopy(head, (int) offset, target, targetOffset, checkHead(offset, length));
  }

  private int checkHead(long offset, int length) {
    if (offset + length > head.length) {
      throw new IndexOutOfBoundsException(
          "end: " + (offset + length) + " (expected: <= " + head.length + ", the head)");
    }
    return length;
  }

  private void checkReadable(long offset, long length) {
    if (leases.get() == 0) {
      throw ended();
    }
    Objects.checkFromIndexSize(offset, length, length());
  }

  private static IllegalStateException ended() {
    return new IllegalStateException("leases: 0 (expected: a lease held by the caller)");
  }

  @Override
  public String toString() {
    return "SegmentOctets[" + segment + ", length=" + length() + ", leases=" + leases + "]";
  }

  /** Octets of the segment, on their way to a socket; holds a lease until it is released. */
  private final class Region extends DefaultFileRegion {

    /*
     * The epoll transport takes only a DefaultFileRegion the fast way, and that closes its file in
     * the end. This file is the segment's. Nothing is ever written where it was written before, and
     * the kernel keeps the pages of a deleted file that a socket still refers to.
     */

    /** Takes over one lease. */
    Region(FileChannel file, long position, long count) {
      super(file, position, count);
    }

    @Override
    protected void deallocate() {
      SegmentOctets.this.release();
    }
  }
}
