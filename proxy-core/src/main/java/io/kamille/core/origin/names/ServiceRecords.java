package io.kamille.core.origin.names;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.names.NameLookup.Service;
import io.kamille.core.origin.names.NameLookup.Services;
import io.kamille.core.setting.OriginUrl;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The origins that the SRV records of a name tell of (RFC 2782). */
public final class ServiceRecords extends OriginList {

  /*
   * Records of the least priority are origins, all others backups. An answer holds for its least
   * TTL. One that fails or has no record changes nothing and is asked for again soon: a zone that is
   * broken for a minute must not take an upstream away.
   *
   * The first look waits for the answer, so that a start has origins. Later ones take what has come
   * since the last one.
   */
  static final int MOST_ORIGINS = 256;

  private static final Duration FIRST_ANSWER = Duration.ofSeconds(10);

  private final String name;
  private final OriginProtocol protocol;
  private final NameLookup lookup;
  private @Nullable CompletableFuture<Services> asked;
  private boolean wasAsked;
  private long dueNanos;

  /**
   * Names none before the first look.
   *
   * @param upstream its name, for the log
   * @param protocol in which they are asked
   */
  public ServiceRecords(String upstream, String name, OriginProtocol protocol, NameLookup lookup) {
    super(NamedBy.DNS, name, upstream, List.of());
    this.protocol = protocol;
    this.name = name;
    this.lookup = lookup;
  }

  @Override
  public void refresh(long nowNanos) {
    if (asked == null && (!wasAsked || nowNanos - dueNanos >= 0)) {
      asked = lookup.services(name);
      if (!wasAsked) {
        wasAsked = true;
        // Without it for now if it fails or is late: the reason is told where it is taken.
        asked
            .copy()
            .orTimeout(FIRST_ANSWER.toSeconds(), TimeUnit.SECONDS)
            .exceptionally(_ -> null)
            .join();
      }
    }
    if (asked != null && asked.isDone()) {
      Duration validFor = asked.handle(this::take).join();
      dueNanos = nowNanos + validFor.toNanos();
      asked = null;
    }
  }

  /** How long that holds. */
  private Duration take(@Nullable Services answer, @Nullable Throwable failure) {
    if (answer == null) {
      troubled(String.valueOf(failure == null ? null : failure.getMessage()));
      return OriginNames.AFTER_FAILURE;
    }
    Map<OriginUrl, OriginSettings> found = found(answer.services());
    if (found.isEmpty()) {
      troubled(name + ": no SRV record that can be used");
      return OriginNames.AFTER_FAILURE;
    }
    List<OriginSettings> next = found.values().stream().limit(MOST_ORIGINS).toList();
    if (!next.equals(origins)) {
      LOG.log(Level.INFO, "origins of {0} by {1}: {2}", upstream, name, next.size());
    }
    origins = next;
    if (found.size() > next.size()) {
      say(found.size() + " origins by " + name + ", of which the first " + MOST_ORIGINS + " count");
    } else {
      problems = List.of();
    }
    return answer.validFor();
  }

  /** In the order of the answer's priorities; of the same order every time. */
  private Map<OriginUrl, OriginSettings> found(List<Service> services) {
    Map<OriginUrl, OriginSettings> found = new LinkedHashMap<>();
    int first = services.stream().mapToInt(Service::priority).min().orElse(0);
    services.stream()
        .sorted(
            Comparator.comparingInt(Service::priority)
                .thenComparing(Service::host)
                .thenComparingInt(Service::port))
        .forEach(
            service -> {
              OriginUrl url = url(service);
              if (url != null) {
                boolean isBackup = service.priority() > first;
                int weight = Math.max(1, service.weight());
                found.putIfAbsent(url, new OriginSettings(url, weight, isBackup));
              }
            });
    return found;
  }

  private @Nullable OriginUrl url(Service service) {
    boolean isSecure =
        protocol == OriginProtocol.H2 || name.toLowerCase(Locale.ROOT).startsWith("_https.");
    String text = (isSecure ? "https://" : "http://") + service.host() + ":" + service.port();
    OriginUrl url = OriginUrl.parse(text);
    return url != null && protocol.suits(url) ? url : null;
  }

  private void troubled(String why) {
    say(why + "; " + origins.size() + " origins of the last answer stay");
  }

  /** Says it once, until something else is wrong. */
  private void say(String trouble) {
    if (!problems.equals(List.of(trouble))) {
      LOG.log(Level.WARNING, "{0}: {1}", upstream, trouble);
    }
    problems = List.of(trouble);
  }
}
