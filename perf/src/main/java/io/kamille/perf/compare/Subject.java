package io.kamille.perf.compare;

import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import java.util.List;

/**
 * What the servers are asked for.
 *
 * @param label as it stands in tables
 * @param streams at a time on each connection over TLS, 0 for HTTP/1.1; {@link #CLEAR} without TLS
 */
record Subject(String label, Kind kind, int size, int streams) {

  /** Where the answer comes from, and how it is asked for. */
  enum Kind {
    /** From the store. */
    HIT,
    /** From the store, on a connection of its own. */
    CONNECTION,
    /** From the store, by a client in another network. */
    APART,
    /** From the origin, and not to be stored. */
    PASS,
    /** From the origin, and to be stored: {@code wrk.lua} gives each request a path of its own. */
    NEW
  }

  /** HTTP/1.1 in clear text. */
  static final int CLEAR = -1;

  static final Subject HIT = new Subject("hit", Kind.HIT, 1 << 10);
  static final Subject LARGE = new Subject("hit, 1 MiB", Kind.HIT, 1 << 20);
  static final Subject PASS = new Subject("not cacheable", Kind.PASS, 1 << 10);
  static final Subject TLS = secure("hit, HTTP/1.1 and TLS", 1 << 10, 0);
  static final Subject LARGE_TLS = secure("hit, 1 MiB, HTTP/1.1 and TLS", 1 << 20, 0);
  static final Subject MANY = secure("hit, HTTP/2 and TLS, 32 streams", 1 << 10, 32);
  static final Subject ONE = secure("hit, HTTP/2 and TLS, one stream", 1 << 10, 1);

  /** All that is compared; of 1 KiB unless the label says otherwise. */
  static final List<Subject> ALL =
      List.of(
          HIT,
          new Subject("hit, 16 KiB", Kind.HIT, 16 << 10),
          LARGE,
          new Subject("hit, a connection each", Kind.CONNECTION, 1 << 10),
          PASS,
          new Subject("stored for the first time", Kind.NEW, 1 << 10),
          // The last in clear text: where a firewall stops it, no server is left for others.
          new Subject("hit, 1 MiB, two network namespaces", Kind.APART, 1 << 20),
          TLS,
          secure("hit, 16 KiB, HTTP/1.1 and TLS", 16 << 10, 0),
          LARGE_TLS,
          MANY,
          secure("hit, 16 KiB, HTTP/2 and TLS, 32 streams", 16 << 10, 32),
          ONE,
          new Subject("hit, a TLS handshake each", Kind.CONNECTION, 1 << 10, 0));

  Subject(String label, Kind kind, int size) {
    this(label, kind, size, CLEAR);
  }

  private static Subject secure(String label, int size, int streams) {
    return new Subject(label, Kind.HIT, size, streams);
  }

  boolean isSecure() {
    return streams != CLEAR;
  }

  /** Whether each request is one to the origin. */
  boolean isForwarded() {
    return kind == Kind.PASS || kind == Kind.NEW;
  }

  String path() {
    return (kind == Kind.PASS ? "/pass/" : "/hit/") + size + (kind == Kind.NEW ? "?new=" : "");
  }

  /** Asks a server for it. */
  LoadRequest request() {
    return LoadRequest.get("127.0.0.1", path(), content());
  }

  byte[] content() {
    return FixedContent.octets(size);
  }
}
