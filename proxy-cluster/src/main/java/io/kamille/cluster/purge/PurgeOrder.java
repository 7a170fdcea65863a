package io.kamille.cluster.purge;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Kind;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A purge as nodes tell one another of it. Immutable.
 *
 * @param id a random number, by which a repetition is known
 * @param names as in {@link PurgeTarget#of}
 * @param isSoft whether it makes stale what it is about
 * @param epochSeconds when it was ordered, by the clock of the node that was asked
 */
public record PurgeOrder(
    long id, Kind kind, List<String> names, boolean isSoft, long epochSeconds) {

  private static final int NAMES_LIMIT = 1_024;

  public PurgeOrder {
    names = List.copyOf(names);
  }

  /** What it is about; null if nothing can be. */
  public @Nullable PurgeTarget target() {
    return PurgeTarget.of(kind, names);
  }

  /** Of all names. */
  int length() {
    return names.stream().mapToInt(String::length).sum();
  }

  static byte[] octets(Iterable<PurgeOrder> orders) {
    var octets = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(octets)) {
      for (PurgeOrder order : orders) {
        order.write(out);
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return octets.toByteArray();
  }

  void write(DataOutputStream out) throws IOException {
    out.writeLong(id);
    out.writeUTF(kind.name());
    out.writeBoolean(isSoft);
    out.writeLong(epochSeconds);
    out.writeInt(names.size());
    for (String name : names) {
      out.writeUTF(name);
    }
  }

  /** All that those octets hold. */
  static List<PurgeOrder> read(byte[] octets) throws IOException {
    try (var in = new DataInputStream(new ByteArrayInputStream(octets))) {
      List<PurgeOrder> orders = new ArrayList<>();
      while (in.available() > 0) {
        orders.add(read(in));
      }
      return orders;
    }
  }

  static PurgeOrder read(DataInputStream in) throws IOException {
    try {
      long id = in.readLong();
      Kind kind = Kind.valueOf(in.readUTF());
      boolean isSoft = in.readBoolean();
      long epochSeconds = in.readLong();
      int count = in.readInt();
      if (count < 0 || count > NAMES_LIMIT) {
        throw new IOException("a purge of " + count + " names");
      }
      List<String> names = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        names.add(in.readUTF());
      }
      return new PurgeOrder(id, kind, names, isSoft, epochSeconds);
    } catch (IllegalArgumentException unknown) {
      throw new IOException("a purge that this release does not know", unknown);
    }
  }
}
