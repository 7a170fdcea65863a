package io.kamille.perf.compare;

import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.peer.Peer.Job;
import java.util.List;

/**
 * What the servers are asked for.
 *
 * @param label as it stands in tables
 * @param coding the content coding that clients take; empty if they say nothing
 */
record Subject(Job job, String label, int size, String coding) {

  Subject(Job job, String label, int size) {
    this(job, label, size, "");
  }

  /** A stored response, small to large. */
  static final List<Subject> HITS =
      List.of(
          new Subject(Job.HIT, "1 KiB hit", 1 << 10),
          new Subject(Job.HIT, "16 KiB hit", 16 << 10),
          new Subject(Job.HIT, "1 MiB hit", 1 << 20));

  /** A small response that must not be stored. */
  static final List<Subject> PASSES = List.of(new Subject(Job.PASS, "1 KiB pass", 1 << 10));

  /** Stored text, as it is and compressed. */
  static final List<Subject> CODED =
      List.of(
          new Subject(Job.CODED, "16 KiB text", 16 << 10, "identity"),
          new Subject(Job.CODED, "16 KiB text, gzip", 16 << 10, "gzip"));

  /** A response on a disk, large enough to be sent from there. */
  static final List<Subject> DISK = List.of(new Subject(Job.DISK, "1 MiB disk hit", 1 << 20));

  String path() {
    String kind =
        switch (job) {
          case HIT, COLLAPSE, DISK, MIX -> "/hit/";
          case CODED -> "/text/";
          case PASS -> "/pass/";
        };
    return kind + size;
  }

  /** Asks that authority for it. */
  LoadRequest request(String authority) {
    return LoadRequest.get(authority, path(), content());
  }

  byte[] content() {
    return job == Job.CODED ? FixedContent.text(size) : FixedContent.octets(size);
  }
}
