package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.OriginUrl;
import java.util.List;

/**
 * Origins of one upstream that one place names, and that may change. After trouble there, what it
 * named last stays. One thread at a time refreshes; reading: any thread.
 */
public class OriginList {

  /** What names them. */
  public enum NamedBy {
    CONFIGURATION,
    FILE,
    DNS,
    API
  }

  /** No list names an origin for so long. */
  public static final long FOREVER = Long.MAX_VALUE;

  static final System.Logger LOG = System.getLogger("kamille.upstream");

  final String upstream;
  // Volatile: replaced by who refreshes, read by any thread.
  volatile List<OriginSettings> origins;
  volatile List<String> problems = List.of();
  private final NamedBy kind;
  private final String place;

  /**
   * Names these at first.
   *
   * @param upstream its name, for the log
   */
  OriginList(NamedBy kind, String place, String upstream, List<OriginSettings> origins) {
    this.kind = kind;
    this.place = place;
    this.upstream = upstream;
    this.origins = List.copyOf(origins);
  }

  public final NamedBy kind() {
    return kind;
  }

  /** Which file or name; empty where the kind says all. */
  public final String place() {
    return place;
  }

  /** What it names at present. */
  public List<OriginSettings> origins() {
    return origins;
  }

  /** All that was wrong the last time, a line for each; none if nothing was. */
  public final List<String> problems() {
    return problems;
  }

  /** Until when it names this origin, by the monotonic clock, or {@link #FOREVER}. */
  public long untilNanos(OriginUrl origin) {
    return FOREVER;
  }

  /** Takes news in. May block for a moment. */
  public void refresh(long nowNanos) {}
}
