package io.kamille.cluster.current;

import io.kamille.cluster.engine.ClusterEngine;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a node says of itself to all others, every second or two. Immutable.
 *
 * @param level of what it can read
 * @param number of this report, by which others say which one they have heard
 * @param heard the number of the last report of each other node that it has heard
 * @param log the random number of its log; 0 if it has none yet
 * @param appended the number of the last entry in its log
 * @param applied the number of the last purge that it has applied
 * @param config the number of the last change of the configuration that it has seen to
 * @param configDigest of what nodes share of it; empty if they share nothing
 * @param isCurrent whether it serves what it has stored
 * @param isDraining whether it is about to leave
 * @param currentMillis how long it has been current without a break
 * @param peers where it answers other nodes, HOST:PORT; empty if it does not
 * @param version of its release
 */
public record Report(
    int level,
    long number,
    Map<String, Long> heard,
    long log,
    long appended,
    long applied,
    long config,
    String configDigest,
    boolean isCurrent,
    boolean isDraining,
    long currentMillis,
    String peers,
    String version) {

  /*
   * A level is what a release can read: entries of the log, snapshots, messages and fields. Nodes
   * of two levels that follow each other work together. So a release writes what an older level
   * cannot read only if NodeView.lowestLevel is high enough.
   */

  /** Of this release. */
  public static final int LEVEL = 1;

  /** The oldest level that this release works with. */
  public static final int OLDEST_LEVEL = 1;

  private static final int NODES_LIMIT = 1_000;

  public Report {
    heard = Map.copyOf(heard);
  }

  /** As octets. */
  public byte[] octets() {
    return ClusterEngine.octets(
        out -> {
          out.writeInt(level);
          out.writeLong(number);
          out.writeInt(heard.size());
          for (Map.Entry<String, Long> each : heard.entrySet()) {
            out.writeUTF(each.getKey());
            out.writeLong(each.getValue());
          }
          out.writeLong(log);
          out.writeLong(appended);
          out.writeLong(applied);
          out.writeLong(config);
          out.writeUTF(configDigest);
          out.writeBoolean(isCurrent);
          out.writeBoolean(isDraining);
          out.writeLong(currentMillis);
          out.writeUTF(peers);
          out.writeUTF(version);
        });
  }

  /**
   * What those octets say. What a later release has put behind it is passed over.
   *
   * @throws IOException if it is no report
   */
  public static Report of(byte[] octets) throws IOException {
    try (var in = new DataInputStream(new ByteArrayInputStream(octets))) {
      int level = in.readInt();
      long number = in.readLong();
      int nodes = in.readInt();
      if (nodes < 0 || nodes > NODES_LIMIT) {
        throw new IOException("a report about " + nodes + " nodes");
      }
      Map<String, Long> heard = new LinkedHashMap<>();
      for (int i = 0; i < nodes; i++) {
        heard.put(in.readUTF(), in.readLong());
      }
      return new Report(
          level,
          number,
          heard,
          in.readLong(),
          in.readLong(),
          in.readLong(),
          in.readLong(),
          in.readUTF(),
          in.readBoolean(),
          in.readBoolean(),
          in.readLong(),
          in.readUTF(),
          in.readUTF());
    }
  }
}
