package io.kamille.cache;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.peak.PeakSettings;
import io.kamille.cache.tier.DiskCopies.Admission;
import java.nio.file.Path;

/**
 * Where and how stored responses are kept on a disk.
 *
 * @param path the directory, which is ours alone
 * @param capacityBytes what the files may take, at least {@link #CAPACITY_MINIMUM_BYTES}
 * @param admission which responses are written
 * @param keepsMemory whether what is hot in memory is left to the next process
 * @param sendFromBytes records that long, or longer, are sent from their file to clients that take
 *     regions, and not taken into memory; {@link Long#MAX_VALUE} for none
 * @param peak when requests leave the disk alone, to begin with
 */
public record DiskSettings(
    Path path,
    long capacityBytes,
    Admission admission,
    boolean keepsMemory,
    long sendFromBytes,
    PeakSettings peak) {

  /** The least that is of use. */
  public static final long CAPACITY_MINIMUM_BYTES = DiskTier.CAPACITY_MINIMUM_BYTES;
}
