package io.kamille.cache.disk;

import io.kamille.cache.store.StoredOctets;

/**
 * A response that stays where it is on the disk, proven, and can be sent from there.
 *
 * @param octets with one lease, the owner's; the segment is kept until the last one ends
 * @param sequence what was given with the response when it was written
 */
public record LentRecord(StoredHead head, long sequence, StoredOctets octets) {}
