package io.kamille.perf.soak;

import io.kamille.perf.peer.Metrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Whether the server gives back what it took, once nobody asks for anything. Confined. */
final class LeakCheck {

  /*
   * Origins' connections are idle for 4 s before they are closed, clients' for 10 s, and what the
   * kernel has to send holds memory for as long. So much patience is no measure of anything.
   */
  private static final long PATIENCE_SECONDS = 120;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Of what the process opened meanwhile besides sockets and the disk tier's files. */
  private static final int OTHER_DESCRIPTORS = 12;

  private static final String MEMORY = "kamille_cache_memory_part_bytes";

  private final SoakServer server;
  private final SoakServer.Descriptors before;

  /**
   * To be made before the first request.
   *
   * @throws IOException if the server cannot be asked
   */
  LeakCheck(SoakServer server) throws IOException {
    this.server = server;
    this.before = server.descriptors();
  }

  /** Waits until nothing is under way, and returns what still is after that time. */
  List<String> awaitIdle() throws IOException {
    return await(this::left);
  }

  /** Purges everything that is stored, waits, and returns what is left. */
  List<String> purgeAll() throws IOException {
    server.control().order("POST", "/v1/cache/purges", "{\"all\": true}");
    return await(this::stored);
  }

  private interface Question {
    List<String> answer() throws IOException;
  }

  private static List<String> await(Question question) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    List<String> left = question.answer();
    while (!left.isEmpty() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(LOOK_NANOS);
      left = question.answer();
    }
    return left;
  }

  private List<String> left() throws IOException {
    Metrics metrics = server.control().metrics();
    var left = new ArrayList<String>();
    check(left, "open connections of clients", metrics.sum("kamille_connections"));
    check(
        left,
        "open connections to origins",
        metrics.sum("kamille_upstream_connections_opened_total")
            - metrics.sum("kamille_upstream_connections_closed_total"));
    check(left, "requests to origins", metrics.sum("kamille_upstream_requests_in_flight"));
    check(left, "requests others wait for", metrics.sum("kamille_cache_in_flight"));
    check(left, "octets being filled", metrics.with(MEMORY, "\"filling\""));
    check(left, "octets leased", metrics.with(MEMORY, "\"leased\""));
    check(left, "octets renewing", metrics.with(MEMORY, "\"renewing\""));
    check(left, "octets retired", metrics.with(MEMORY, "\"retired\""));
    check(left, "lost memory", metrics.sum("kamille_cache_memory_retired_bytes"));
    if (metrics.samples().keySet().stream().noneMatch(name -> name.startsWith(MEMORY))) {
      left.add(MEMORY + " is not there");
    }
    SoakServer.Descriptors now = server.descriptors();
    check(left, "sockets", now.sockets() - before.sockets());
    check(left, "other descriptors", Math.max(0, now.others() - limitOfOthers()));
    return left;
  }

  private int limitOfOthers() {
    return before.others() + OTHER_DESCRIPTORS;
  }

  private List<String> stored() throws IOException {
    Metrics metrics = server.control().metrics();
    var left = new ArrayList<String>();
    check(left, "keys", metrics.sum("kamille_cache_keys"));
    check(left, "octets stored", metrics.with(MEMORY, "\"stored\""));
    check(left, "octets of the index", metrics.with(MEMORY, "\"index\""));
    check(left, "octets used", metrics.sum("kamille_cache_memory_used_bytes"));
    return left;
  }

  private static void check(List<String> left, String what, long amount) {
    if (amount != 0) {
      left.add(what + ": " + amount);
    }
  }
}
