package io.kamille.perf.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server that can be compared: one worker, no log, otherwise as its manual recommends. */
public interface Peer {

  /** What the server has to do. */
  enum Job {
    /** Be asked for a few objects, or for others each time. */
    HIT,
    /** Store what may be stored of a mix of many objects of every size, and pass on the rest. */
    MIX
  }

  /**
   * Where it works.
   *
   * @param address on which it listens
   * @param originPort on the loopback address
   * @param connections of clients at once
   * @param certificates a directory with {@code chain.pem}, {@code key.pem} and {@code both.pem},
   *     or null for clear text
   */
  record Place(
      Job job,
      String address,
      int port,
      int originPort,
      int connections,
      @Nullable Path certificates) {

    /** A place on the loopback address, in clear text. */
    public Place(Job job, int port, int originPort, int connections) {
      this(job, "127.0.0.1", port, originPort, connections, null);
    }

    /** The same on another address. */
    public Place at(String other) {
      return new Place(job, other, port, originPort, connections, certificates);
    }

    /** The same on another port, before another origin. */
    public Place on(int otherPort, int otherOriginPort) {
      return new Place(job, address, otherPort, otherOriginPort, connections, certificates);
    }

    /** The same over TLS, unless null. */
    public Place with(@Nullable Path directory) {
      return new Place(job, address, port, originPort, connections, directory);
    }
  }

  /** A short name in lower case. */
  String label();

  /** What is missing on this machine and how to install it, or null if nothing is. */
  @Nullable String missing();

  /** The version of the installed server. */
  String version();

  /**
   * Writes its configuration into an empty directory.
   *
   * @return the command that runs it in the foreground
   */
  List<String> prepare(Path directory, Place place) throws IOException;

  /** Seconds under load until its code is as fast as it gets. */
  default int warmupSeconds() {
    return isJava() ? Jvm.WARMUP_SECONDS : 2;
  }

  /** Whether its memory is a Java heap, in which garbage waits. */
  default boolean isJava() {
    return false;
  }
}
