package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.OriginUrl;
import java.util.List;

/**
 * Origins of one upstream that one place names, and that may change. One thread at a time looks;
 * reading: any thread.
 */
public interface OriginList {

  /** What names them. */
  enum Kind {
    CONFIGURATION,
    FILE,
    DNS,
    API
  }

  /** No list names an origin for so long. */
  long FOREVER = Long.MAX_VALUE;

  Kind kind();

  /** Which file or name; empty where the kind says all. */
  String place();

  /** What it names at present; after trouble, what it named before. */
  List<OriginSettings> origins();

  /** All that was wrong the last time, a line for each; none if nothing was. */
  default List<String> problems() {
    return List.of();
  }

  /** Until when it names this origin, by the monotonic clock, or {@link #FOREVER}. */
  default long untilNanos(OriginUrl origin) {
    return FOREVER;
  }

  /** Looks for news. May block for a moment. */
  default void refresh(long nowNanos) {}

  /** Those of the configuration. */
  record Configured(List<OriginSettings> origins) implements OriginList {

    public Configured {
      origins = List.copyOf(origins);
    }

    @Override
    public Kind kind() {
      return Kind.CONFIGURATION;
    }

    @Override
    public String place() {
      return "";
    }
  }
}
