package io.kamille.perf.soak;

import io.kamille.perf.peer.Metrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Whether the server gives back what it took, once nobody asks for anything. Confined.
 *
 * @param before what was open before the first request
 */
record LeakCheck(SoakServer server, SoakServer.Descriptors before) {

  /*
   * Origins' connections are idle for 4 s before they are closed, clients' for 10 s, and what the
   * kernel has to send holds memory for as long. So much patience is no measure of anything.
   */
  private static final long PATIENCE_SECONDS = 120;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Of what the process opened meanwhile besides sockets and the disk tier's files. */
  private static final int OTHER_DESCRIPTORS = 12;

  private static final String MEMORY = "kamille_cache_memory_part_bytes";

  /** What is zero while nothing is under way. */
  private static final List<String> UNDER_WAY =
      List.of(
          "kamille_connections",
          "kamille_upstream_requests_in_flight",
          "kamille_cache_in_flight",
          "kamille_cache_memory_retired_bytes");

  private static final List<String> PARTS_UNDER_WAY =
      List.of("filling", "leased", "renewing", "retired");

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
    List<String> left = left(metrics, UNDER_WAY, PARTS_UNDER_WAY);
    check(
        left,
        "open connections to origins",
        metrics.sum("kamille_upstream_connections_opened_total")
            - metrics.sum("kamille_upstream_connections_closed_total"));
    metrics.required(MEMORY);
    SoakServer.Descriptors now = server.descriptors();
    check(left, "sockets", now.sockets() - before.sockets());
    int others = now.others() - before.others() - OTHER_DESCRIPTORS;
    check(left, "other descriptors", Math.max(0, others));
    return left;
  }

  private List<String> stored() throws IOException {
    return left(
        server.control().metrics(),
        List.of("kamille_cache_keys", "kamille_cache_memory_used_bytes"),
        List.of("stored", "index"));
  }

  /** Of these metrics, and of these parts of memory, those that are not zero. */
  private static List<String> left(Metrics metrics, List<String> names, List<String> parts) {
    var left = new ArrayList<String>();
    names.forEach(name -> check(left, name, metrics.sum(name)));
    parts.forEach(part -> check(left, "octets " + part, metrics.with(MEMORY, '"' + part + '"')));
    return left;
  }

  private static void check(List<String> left, String what, long amount) {
    if (amount != 0) {
      left.add(what + ": " + amount);
    }
  }
}
