package io.kamille.perf.compare;

import io.kamille.perf.peer.Peer.Job;
import java.util.List;

/**
 * What the servers are asked for.
 *
 * @param label as it stands in tables
 */
record Subject(Job job, String label, int size) {

  /** A stored response, small to large. */
  static final List<Subject> HITS =
      List.of(
          new Subject(Job.HIT, "1 KiB hit", 1 << 10),
          new Subject(Job.HIT, "16 KiB hit", 16 << 10),
          new Subject(Job.HIT, "1 MiB hit", 1 << 20));

  /** A small response that must not be stored. */
  static final List<Subject> PASSES = List.of(new Subject(Job.PASS, "1 KiB pass", 1 << 10));

  String path() {
    return (job == Job.HIT ? "/hit/" : "/pass/") + size;
  }
}
