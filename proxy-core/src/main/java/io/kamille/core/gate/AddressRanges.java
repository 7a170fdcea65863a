package io.kamille.core.gate;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.net.InetAddress;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Any number of {@link AddressRange}s, asked for an address together: what it costs goes by how
 * many different prefix lengths there are. Immutable; any thread.
 */
public final class AddressRanges {

  /** No address. */
  public static final AddressRanges NONE = of(List.of());

  /** A list of them in a setting. */
  public static final ValueType<AddressRanges> TYPE =
      ValueTypes.list(
              "list of addresses",
              AddressRange::parse,
              AddressRange::toString,
              "an IP address, or a range such as 10.0.0.0/8 or 2001:db8::/32 with no bit set behind"
                  + " its prefix")
          .map(AddressRanges::of, AddressRanges::ranges);

  private static final int NO_PREFIX = -1;

  private final List<AddressRange> ranges;
  private final Set<AddressRange> found;
  private final int[] ipv4Lengths;
  private final int[] ipv6Lengths;

  private AddressRanges(List<AddressRange> ranges) {
    this.ranges = ranges;
    found = Set.copyOf(ranges);
    ipv4Lengths = lengths(ranges, true);
    ipv6Lengths = lengths(ranges, false);
  }

  /** The prefix lengths of one family, the greatest first. */
  private static int[] lengths(List<AddressRange> ranges, boolean ipv4) {
    return ranges.stream()
        .filter(range -> range.isIpv4() == ipv4)
        .map(AddressRange::prefixLength)
        .distinct()
        .sorted(Comparator.reverseOrder())
        .mapToInt(length -> length)
        .toArray();
  }

  /** All of these. */
  public static AddressRanges of(List<AddressRange> ranges) {
    return new AddressRanges(List.copyOf(ranges));
  }

  /** All of these; texts that are none ({@link AddressRange#parse}) are left out. */
  public static AddressRanges parse(List<String> texts) {
    return of(texts.stream().map(AddressRange::parse).filter(Objects::nonNull).toList());
  }

  /** All of them, in their order. */
  public List<AddressRange> ranges() {
    return ranges;
  }

  public boolean isEmpty() {
    return ranges.isEmpty();
  }

  /** Whether one of them has the address. */
  public boolean contains(InetAddress address) {
    return !isEmpty() && longestPrefix(address) != NO_PREFIX;
  }

  /** How many bits the smallest range with this address has for its prefix; -1 if none has it. */
  public int longestPrefix(InetAddress address) {
    AddressBits bits = AddressBits.of(address);
    for (int length : bits.isIpv4() ? ipv4Lengths : ipv6Lengths) {
      if (found.contains(new AddressRange(bits.prefix(length), length))) {
        return length;
      }
    }
    return NO_PREFIX;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AddressRanges that && ranges.equals(that.ranges);
  }

  @Override
  public int hashCode() {
    return ranges.hashCode();
  }

  @Override
  public String toString() {
    return ranges.toString();
  }
}
