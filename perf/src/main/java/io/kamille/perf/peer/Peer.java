package io.kamille.perf.peer;

import io.kamille.perf.host.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server that can be compared: one worker, no log, otherwise as its manual recommends. */
public sealed interface Peer
    permits Apache, Floor, H2o, Haproxy, Kamille, Nginx, Squid, TrafficServer, Varnish {

  /** What the server has to do. */
  enum Job {
    /** Answer from its store. */
    HIT,
    /** Ask the origin each time; what can be switched off about storing is. */
    PASS,
    /** Store, and ask the origin once for what many want at the same time; in a larger store. */
    COLLAPSE,
    /** Answer from its store, and compress text for clients that take gzip. */
    CODED,
    /** Answer from files on a disk, which the kernel has in its memory. */
    DISK,
    /** Store what may be stored of a mix of many objects of every size, and pass on the rest. */
    MIX;

    /** Whether there is anything to store. */
    public boolean isStoring() {
      return this != PASS;
    }

    /** The size of the store. */
    int storeMib() {
      return this == COLLAPSE || this == MIX ? 1024 : 256;
    }
  }

  /**
   * Where a server listens and asks.
   *
   * @param address ours, of IPv4
   * @param port ours
   * @param originPort the origin's, on the loopback address
   * @param connections how many there will be at once at most
   * @param javaOptions for a server in Java, besides its own and KAMILLE_JAVA_OPTS
   */
  record Place(
      Job job,
      String address,
      int port,
      int originPort,
      int connections,
      List<String> javaOptions) {

    /** A place on the loopback address. */
    public Place(Job job, int port, int originPort, int connections, List<String> javaOptions) {
      this(job, "127.0.0.1", port, originPort, connections, javaOptions);
    }
  }

  /** All that Kamille can be compared with, besides the floor. */
  static List<Peer> others() {
    return List.of(
        new Nginx(), new Haproxy(), new Varnish(), new TrafficServer(), new Squid(), new Apache());
  }

  /** A short name in lower case. */
  String name();

  /** The program that serves. */
  default String executable() {
    return name();
  }

  /** The package that has it. */
  default String debianPackage() {
    return name();
  }

  /** The option by which it tells its version. */
  default String versionOption() {
    return "-v";
  }

  /** What is missing on this machine and how to install it, or null if nothing is. */
  default @Nullable String missing() {
    return Programs.find(executable()) == null
        ? name() + " is not installed; install it with: apt-get install " + debianPackage()
        : null;
  }

  /** The version of the installed server. */
  default String version() {
    return Programs.firstLine(List.of(path(), versionOption()));
  }

  /** Where its program is. */
  default String path() {
    return String.valueOf(Programs.find(executable()));
  }

  /**
   * Writes the configuration into {@code directory} and returns the command that runs the server in
   * the foreground.
   */
  List<String> prepare(Path directory, Place place) throws IOException;

  /** Seconds under load until its code is as fast as it gets. */
  default int warmupSeconds() {
    return 2;
  }

  /** Whether its memory is a Java heap, in which garbage waits. */
  default boolean isJava() {
    return false;
  }
}
