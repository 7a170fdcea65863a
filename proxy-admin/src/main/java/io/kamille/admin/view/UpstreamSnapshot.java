package io.kamille.admin.view;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One upstream and its origins. */
public record UpstreamSnapshot(String name, List<OriginSnapshot> origins) {

  public UpstreamSnapshot {
    origins = List.copyOf(origins);
  }

  /** Whether requests go to an origin. */
  public enum OriginState {
    IN,
    /** It failed; after a while one request probes it. */
    OUT,
    /** It answered again, and gets a growing share of the requests. */
    RETURNING
  }

  /**
   * One origin.
   *
   * @param name host and port
   * @param inFlight requests it has not answered yet
   * @param limit how many it may have at a time, found out by itself; 0 if there is no such limit
   * @param failures since the start
   * @param since when it came into this state, as RFC 3339 says it; null if it always was
   * @param why what brought it there; empty if nothing did
   * @param drainedUntil until when somebody drains it, as RFC 3339 says it; null if nobody does
   * @param check how its last check went; null if there was none
   */
  public record OriginSnapshot(
      String name,
      OriginState state,
      long inFlight,
      long limit,
      long failures,
      @Nullable String since,
      String why,
      @Nullable String drainedUntil,
      @Nullable CheckSnapshot check) {}

  /**
   * How a check of an origin went.
   *
   * @param at when it ended, as RFC 3339 says it
   * @param trouble what was wrong; empty if it passed
   * @param next when the next one begins
   */
  public record CheckSnapshot(String at, String trouble, String next) {}
}
