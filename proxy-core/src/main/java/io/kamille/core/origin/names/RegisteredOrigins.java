package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginSettings;
import io.kamille.core.setting.OriginUrl;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The origins that the API registers, each for a time. Any thread. */
public final class RegisteredOrigins extends OriginList {

  /** Each request looks at all origins of its upstream. */
  public static final int MOST = 256;

  /**
   * An origin, and until when it is one.
   *
   * @param untilNanos by the monotonic clock
   */
  public record Registration(OriginSettings origin, long untilNanos) {}

  // Volatile: replaced whole under the lock, read without.
  private volatile Map<OriginUrl, Registration> registrations = Map.of();

  /**
   * None yet.
   *
   * @param upstream its name, for the log
   */
  public RegisteredOrigins(String upstream) {
    super(NamedBy.API, "", upstream, List.of());
  }

  /**
   * Registers the origin, or registers it for longer.
   *
   * @return false if there are too many others
   */
  public synchronized boolean put(Registration registration) {
    Map<OriginUrl, Registration> next = new LinkedHashMap<>(registrations);
    next.put(registration.origin().url(), registration);
    if (next.size() > MOST) {
      return false;
    }
    if (next.size() > registrations.size()) {
      LOG.log(
          Level.INFO, "{0} has the origin {1} by the API", upstream, registration.origin().url());
    }
    registrations = next;
    return true;
  }

  /**
   * Ends its registration.
   *
   * @return whether it was registered
   */
  public synchronized boolean remove(OriginUrl url) {
    Map<OriginUrl, Registration> next = new LinkedHashMap<>(registrations);
    boolean wasThere = next.remove(url) != null;
    registrations = next;
    if (wasThere) {
      LOG.log(Level.INFO, "{0} has the origin {1} no more, by the API", upstream, url);
    }
    return wasThere;
  }

  /** All of them. */
  public Collection<Registration> registrations() {
    return registrations.values();
  }

  @Override
  public synchronized void refresh(long nowNanos) {
    List<Registration> over = new ArrayList<>(registrations.values());
    over.removeIf(registration -> registration.untilNanos() - nowNanos > 0);
    over.forEach(registration -> remove(registration.origin().url()));
  }

  @Override
  public List<OriginSettings> origins() {
    return registrations.values().stream().map(Registration::origin).toList();
  }

  @Override
  public long untilNanos(OriginUrl origin) {
    @Nullable Registration registration = registrations.get(origin);
    return registration == null ? FOREVER : registration.untilNanos();
  }
}
