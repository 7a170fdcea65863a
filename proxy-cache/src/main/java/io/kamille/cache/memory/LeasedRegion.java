package io.kamille.cache.memory;

import io.netty.channel.DefaultFileRegion;
import java.nio.channels.FileChannel;

/** Octets of the arena's file, on their way to a socket; holds a lease until it is released. */
final class LeasedRegion extends DefaultFileRegion {

  /*
   * The epoll transport takes only a DefaultFileRegion the fast way, and that closes its file in
   * the end. This file is everybody's.
   */
  private final StoredBytes bytes;

  /** Takes over one lease on {@code bytes}. */
  LeasedRegion(StoredBytes bytes, FileChannel file, long position, long count) {
    super(file, position, count);
    this.bytes = bytes;
  }

  @Override
  protected void deallocate() {
    bytes.arena().regionLeft(transferred());
    bytes.release();
  }
}
