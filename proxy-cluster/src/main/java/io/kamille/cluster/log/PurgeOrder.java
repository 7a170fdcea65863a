package io.kamille.cluster.log;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.engine.ClusterEngine;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A purge as nodes tell one another of it. Immutable.
 *
 * <p>A later release may know other kinds. Whoever reads one of them has an order without a kind,
 * and purges everything.
 *
 * @param id a random number, by which a repetition is known
 * @param kind null if this release does not know it
 * @param names as in {@link PurgeTarget#of}
 * @param isSoft whether it makes stale what it is about
 * @param epochSeconds when it was ordered, by the clock of the node that was asked
 */
public record PurgeOrder(
    long id, @Nullable Scope kind, List<String> names, boolean isSoft, long epochSeconds) {

  /** How many octets one may have: all that it names has to get through the log in time. */
  public static final int LIMIT_OCTETS = 1 << 17;

  private static final String INVALID = "invalid";
  private static final Map<String, Scope> KINDS =
      Stream.of(Scope.values()).collect(Collectors.toMap(Scope::name, kind -> kind));

  public PurgeOrder {
    names = List.copyOf(names);
  }

  /** What it is about; null if this release cannot tell. */
  public @Nullable PurgeTarget target() {
    return kind == null ? null : PurgeTarget.of(kind, names);
  }

  /**
   * One that removes a URL as the answer to an unsafe request does (RFC 9111 §4.4). Earlier
   * releases do not look at the second name, and purge the URL.
   */
  static List<String> invalid(String url) {
    return List.of(url, INVALID);
  }

  /** Whether it is one of those. */
  boolean isInvalidation() {
    return kind == Scope.URL && names.size() == 2 && names.getLast().equals(INVALID);
  }

  /** Whether an entry has room for it, and all that read it know what it is about. */
  boolean isReadable() {
    try {
      byte[] octets = octets(List.of(this));
      return octets.length <= LIMIT_OCTETS
          && read(octets).stream().allMatch(each -> each.target() != null);
    } catch (UncheckedIOException tooLong) {
      return false;
    }
  }

  /** What is equal for purges of the same: the names of a URL may be those of a group, too. */
  List<Object> about() {
    return List.of(String.valueOf(kind), names);
  }

  /** Its octets in an entry. */
  int length() {
    return octets(List.of(this)).length;
  }

  static byte[] octets(Iterable<PurgeOrder> orders) {
    return ClusterEngine.octets(
        out -> {
          for (PurgeOrder order : orders) {
            order.write(out);
          }
        });
  }

  void write(DataOutputStream out) throws IOException {
    out.writeLong(id);
    out.writeUTF(kind == null ? "" : kind.name());
    out.writeBoolean(isSoft);
    out.writeLong(epochSeconds);
    out.writeInt(names.size());
    for (String name : names) {
      out.writeUTF(name);
    }
  }

  /** All that those octets hold; whatever has another form counts as one of no known kind. */
  static List<PurgeOrder> read(byte[] octets) {
    List<PurgeOrder> orders = new ArrayList<>();
    try (var in = new DataInputStream(new ByteArrayInputStream(octets))) {
      while (in.available() > 0) {
        orders.add(read(in));
      }
    } catch (IOException unknown) {
      orders.add(new PurgeOrder(Arrays.hashCode(octets), null, List.of(), false, 0));
    }
    return orders;
  }

  static PurgeOrder read(DataInputStream in) throws IOException {
    long id = in.readLong();
    String kind = in.readUTF();
    boolean isSoft = in.readBoolean();
    long epochSeconds = in.readLong();
    List<String> names = new ArrayList<>();
    for (int i = in.readInt(); i > 0; i--) {
      names.add(in.readUTF());
    }
    return new PurgeOrder(id, KINDS.get(kind), names, isSoft, epochSeconds);
  }
}
