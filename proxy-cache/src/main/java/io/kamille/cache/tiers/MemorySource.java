package io.kamille.cache.tiers;

import io.kamille.cache.memory.Arena;
import org.jspecify.annotations.Nullable;

/** Where the memory of a cache comes from: the kernel, or the process before us. One thread. */
public final class MemorySource {

  private final boolean isKept;
  private boolean isPrefaulted;
  private @Nullable KeptMemory given;
  private @Nullable KeptResponses taken;

  private MemorySource(boolean isKept, @Nullable KeptMemory given) {
    this.isKept = isKept;
    this.given = given;
  }

  /** Fresh memory, which ends with this process. */
  public static MemorySource fresh() {
    return new MemorySource(false, null);
  }

  /**
   * Memory that another process may take over from us.
   *
   * @param given what we take over, closed by {@link #open}; null if there is nothing
   */
  public static MemorySource kept(@Nullable KeptMemory given) {
    return new MemorySource(true, given);
  }

  /** The same, and whether the kernel is to supply all pages when it is opened. */
  public MemorySource prefaulted(boolean isPrefaulted) {
    this.isPrefaulted = isPrefaulted;
    return this;
  }

  /** Whether another process may take it over. */
  public boolean isKept() {
    return isKept;
  }

  /**
   * Takes the memory. Comes after the secret of cache keys is known.
   *
   * @param isSendable whether content is to be sent without being copied
   * @return the caller's to close
   * @throws IllegalStateException if the kernel refuses
   */
  public Arena open(long capacityBytes, boolean isSendable) {
    KeptMemory memory = given;
    given = null;
    if (memory != null) {
      taken = KeptResponses.take(memory, capacityBytes);
    }
    Arena arena = taken == null ? fresh(capacityBytes, isSendable) : taken.arena();
    if (isPrefaulted) {
      arena.prefault();
    }
    return arena;
  }

  private Arena fresh(long capacityBytes, boolean isSendable) {
    return isKept || isSendable ? Arena.openSendable(capacityBytes) : Arena.open(capacityBytes);
  }

  /** Makes visible what was taken over. */
  public void moveInto(TieredStore store) {
    if (taken != null) {
      taken.moveInto(store);
      taken = null;
    }
  }
}
