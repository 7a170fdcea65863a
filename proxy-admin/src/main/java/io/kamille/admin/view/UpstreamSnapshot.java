package io.kamille.admin.view;

import java.util.List;

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
   */
  public record OriginSnapshot(
      String name, OriginState state, long inFlight, long limit, long failures) {}
}
