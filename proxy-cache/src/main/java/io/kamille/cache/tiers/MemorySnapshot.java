package io.kamille.cache.tiers;

/**
 * What the memory of the cache is taken by at one moment. The parts are never more than the
 * capacity together; while others change them, one octet may be looked at twice or not at all.
 *
 * @param capacityBytes what it holds in all
 * @param storedBytes heads and content of stored responses, in whole granules of 64 octets
 * @param indexBytes what stored responses take on the heap, nearly; charged against the capacity
 * @param fillingBytes held for responses on their way
 * @param leasedBytes not stored, or forgotten, and still read or sent
 * @param renewingBytes sent without a copy, and about to be given fresh pages
 * @param retiredBytes lost until a restart, because the kernel refused fresh pages
 * @param pageBytes how large its pages are; no part
 */
public record MemorySnapshot(
    long capacityBytes,
    long storedBytes,
    long indexBytes,
    long fillingBytes,
    long leasedBytes,
    long renewingBytes,
    long retiredBytes,
    int pageBytes) {

  /** All parts. */
  public long usedBytes() {
    return storedBytes + indexBytes + fillingBytes + leasedBytes + renewingBytes + retiredBytes;
  }
}
