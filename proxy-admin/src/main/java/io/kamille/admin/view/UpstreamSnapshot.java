package io.kamille.admin.view;

import io.kamille.core.origin.names.OriginList.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One upstream and its origins.
 *
 * @param lists what names them besides the configuration
 */
public record UpstreamSnapshot(
    String name, List<OriginSnapshot> origins, List<ListSnapshot> lists) {

  public UpstreamSnapshot {
    origins = List.copyOf(origins);
    lists = List.copyOf(lists);
  }

  /**
   * A list of origins outside the configuration.
   *
   * @param place which file, say
   * @param origins how many it names; after trouble, how many it named before
   * @param problems what is wrong with it, a line for each
   */
  public record ListSnapshot(Kind kind, String place, int origins, List<String> problems) {

    public ListSnapshot {
      problems = List.copyOf(problems);
    }
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
   * @param from what names it
   * @param until until when that does, as RFC 3339 says it; null if there is no end
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
      Kind from,
      @Nullable String until,
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
