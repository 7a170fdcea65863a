package io.kamille.core.gate;

import java.net.InetAddress;
import java.security.SecureRandom;

/**
 * An IP address as numbers: IPv6 as it is, IPv4 as the IPv6 address that holds it (RFC 4291
 * §2.5.5.2). A key for maps that strangers fill: what its hash is made of differs from process to
 * process. Immutable; any thread.
 *
 * @param high its first 64 bits
 * @param low its last 64 bits
 */
public record AddressBits(long high, long low) {

  /** How many bits come before the octets of an IPv4 address. */
  static final int MAPPED_BITS = 96;

  private static final long MAPPED = 0xffffL << 32;
  private static final long SEED = new SecureRandom().nextLong();

  /** The address. */
  public static AddressBits of(InetAddress address) {
    return of(address.getAddress());
  }

  static AddressBits of(byte[] octets) {
    if (octets.length == 4) {
      return new AddressBits(0, MAPPED | number(octets, 0, 4));
    }
    return new AddressBits(number(octets, 0, 8), number(octets, 8, 16));
  }

  private static long number(byte[] octets, int start, int end) {
    long number = 0;
    for (int i = start; i < end; i++) {
      number = number << 8 | (octets[i] & 0xff);
    }
    return number;
  }

  /** Whether it stands for an IPv4 address. */
  public boolean isIpv4() {
    return high == 0 && low >>> 32 == 0xffff;
  }

  /** The same with all bits zero behind the first {@code bits}, which are 0 to 128. */
  public AddressBits prefix(int bits) {
    return new AddressBits(kept(high, Math.min(bits, 64)), kept(low, Math.max(bits - 64, 0)));
  }

  private static long kept(long number, int bits) {
    return bits == 0 ? 0 : number & -1L << (64 - bits);
  }

  @Override
  public int hashCode() {
    long mixed = longHash();
    return (int) (mixed ^ mixed >>> 32);
  }

  /** A hash of 64 bits that nobody outside the process can foresee. */
  public long longHash() {
    return mixed(mixed(SEED, high), low);
  }

  /** The same of any octets. */
  public static long hash(byte[] octets, int start, int end) {
    long hash = mixed(SEED, end - start);
    int at = start;
    for (; end - at > 8; at += 8) {
      hash = mixed(hash, number(octets, at, at + 8));
    }
    return mixed(hash, number(octets, at, end));
  }

  /** The finalizer of MurmurHash3, with a secret before it and after each word. */
  private static long mixed(long hash, long word) {
    long mixed = (hash ^ word) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return (mixed ^ mixed >>> 33) + SEED;
  }
}
