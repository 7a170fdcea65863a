package io.kamille.perf.wan;

/** One direction of a link with the packets on their way in it. One thread. */
final class Lane {

  private final PathDirection path;
  private final PacketQueue packets = new PacketQueue();
  private final TunDevice end;

  Lane(PathSettings settings, long seed, TunDevice end) {
    path = new PathDirection(settings, seed);
    this.end = end;
  }

  PathDirection path() {
    return path;
  }

  PacketQueue packets() {
    return packets;
  }

  /** The device at the far end. */
  TunDevice end() {
    return end;
  }

  WanStats.Way stats() {
    return new WanStats.Way(path.offered(), path.lost(), path.overflowed());
  }
}
