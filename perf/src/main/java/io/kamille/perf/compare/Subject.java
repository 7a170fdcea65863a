package io.kamille.perf.compare;

import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.peer.Peer.Job;

/**
 * What the servers are asked for.
 *
 * @param label as it stands in tables
 * @param streams at a time on each connection over TLS, 0 for HTTP/1.1; {@link #CLEAR} without TLS
 */
record Subject(Job job, String label, int size, int streams) {

  /** HTTP/1.1 in clear text. */
  static final int CLEAR = -1;

  /** A stored response of 1 KiB. */
  static final Subject HIT = new Subject(Job.HIT, "1 KiB hit", 1 << 10);

  /** A small response that must not be stored. */
  static final Subject PASS = new Subject(Job.PASS, "1 KiB pass", 1 << 10);

  Subject(Job job, String label, int size) {
    this(job, label, size, CLEAR);
  }

  String path() {
    String kind =
        switch (job) {
          case HIT, MIX -> "/hit/";
          case PASS -> "/pass/";
        };
    return kind + size;
  }

  /** Asks a server for it. */
  LoadRequest request() {
    return LoadRequest.get("127.0.0.1", path(), content());
  }

  byte[] content() {
    return FixedContent.octets(size);
  }
}
