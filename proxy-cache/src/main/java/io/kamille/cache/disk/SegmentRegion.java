package io.kamille.cache.disk;

import io.netty.channel.DefaultFileRegion;
import java.nio.channels.FileChannel;

/** Octets of a segment, on their way to a socket; holds a lease until it is released. */
final class SegmentRegion extends DefaultFileRegion {

  /*
   * The epoll transport takes only a DefaultFileRegion the fast way, and that closes its file in
   * the end. This file is the segment's. Nothing is ever written where it was written before, and
   * the kernel keeps the pages of a deleted file that a socket still refers to.
   */
  private final SegmentOctets octets;

  /** Takes over one lease on {@code octets}. */
  SegmentRegion(SegmentOctets octets, FileChannel file, long position, long count) {
    super(file, position, count);
    this.octets = octets;
  }

  @Override
  protected void deallocate() {
    octets.release();
  }
}
