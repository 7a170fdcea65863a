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

/** The origins that somebody names through the API, each for a time. Any thread. */
public final class LeasedOrigins extends OriginList {

  /** Each request looks at all origins of its upstream. */
  public static final int MOST = 256;

  /**
   * An origin, and until when it is one.
   *
   * @param untilNanos by the monotonic clock
   */
  public record Lease(OriginSettings origin, long untilNanos) {}

  // Volatile: replaced whole under the lock, read without.
  private volatile Map<OriginUrl, Lease> leases = Map.of();

  /**
   * None yet.
   *
   * @param upstream its name, for the log
   */
  public LeasedOrigins(String upstream) {
    super(NamedBy.API, "", upstream, List.of());
  }

  /**
   * Names the origin, or names it for longer.
   *
   * @return false if there are too many others
   */
  public synchronized boolean put(Lease lease) {
    Map<OriginUrl, Lease> next = new LinkedHashMap<>(leases);
    next.put(lease.origin().url(), lease);
    if (next.size() > MOST) {
      return false;
    }
    if (next.size() > leases.size()) {
      LOG.log(Level.INFO, "{0} has the origin {1} by the API", upstream, lease.origin().url());
    }
    leases = next;
    return true;
  }

  /**
   * Names it no more.
   *
   * @return whether it was named
   */
  public synchronized boolean remove(OriginUrl url) {
    Map<OriginUrl, Lease> next = new LinkedHashMap<>(leases);
    boolean wasThere = next.remove(url) != null;
    leases = next;
    if (wasThere) {
      LOG.log(Level.INFO, "{0} has the origin {1} no more, by the API", upstream, url);
    }
    return wasThere;
  }

  /** All of them. */
  public Collection<Lease> leases() {
    return leases.values();
  }

  @Override
  public synchronized void refresh(long nowNanos) {
    List<Lease> over = new ArrayList<>(leases.values());
    over.removeIf(lease -> lease.untilNanos() - nowNanos > 0);
    over.forEach(lease -> remove(lease.origin().url()));
  }

  @Override
  public List<OriginSettings> origins() {
    return leases.values().stream().map(Lease::origin).toList();
  }

  @Override
  public long untilNanos(OriginUrl origin) {
    @Nullable Lease lease = leases.get(origin);
    return lease == null ? FOREVER : lease.untilNanos();
  }
}
