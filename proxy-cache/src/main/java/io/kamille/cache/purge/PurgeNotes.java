package io.kamille.cache.purge;

import io.kamille.cache.rules.Tags;
import java.util.List;

/**
 * What a purge table says, for a later process.
 *
 * @param last the number of the last purge
 * @param notes what is remembered one by one, in any order
 * @param numbers those of all names; grows while it is read, by what the keeper is told of, too
 */
public record PurgeNotes(long last, List<Note> notes, PurgeNumbers numbers) {

  public PurgeNotes {
    notes = List.copyOf(notes);
  }

  /** Nothing. */
  public static PurgeNotes none() {
    return new PurgeNotes(0, List.of(), new PurgeNumbers());
  }

  /**
   * What one purge is about.
   *
   * @param sequence the number of the purge
   * @param isSoft whether it makes stale what it is about
   * @param epochSeconds when it was made
   * @param prefixes of normal URIs
   * @param tags as in {@link PurgeTarget}
   */
  public record Note(
      long sequence, boolean isSoft, long epochSeconds, List<String> prefixes, Tags tags) {

    public Note {
      prefixes = List.copyOf(prefixes);
    }

    static Note of(Purge purge, List<String> prefixes, Tags tags) {
      return new Note(purge.sequence(), purge.isSoft(), purge.epochSeconds(), prefixes, tags);
    }

    /** What it is about, as far as another process knows it. */
    public PurgeTarget target() {
      return new PurgeTarget(
          prefixes.isEmpty() ? PurgeTarget.Scope.TAG : PurgeTarget.Scope.PREFIX,
          prefixes,
          prefixes,
          tags);
    }
  }
}
