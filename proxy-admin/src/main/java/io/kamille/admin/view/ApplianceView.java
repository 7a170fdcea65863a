package io.kamille.admin.view;

import io.kamille.admin.tuning.BufferTuner;
import io.kamille.cache.StoredObject;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.peer.Peers.Ownership;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.LoopTop;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.metric.Histogram;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.trace.Tracing;
import java.net.InetAddress;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The appliance as the control plane sees it. Asked on the control plane's loop, which must not
 * wait long: answers are copies of numbers that are there already.
 */
public interface ApplianceView {

  /** How far the appliance has come. */
  enum State {
    /** Not yet accepting on all listeners. */
    STARTING,
    READY,
    /** Finishing exchanges, accepting none. */
    DRAINING
  }

  State state();

  String version();

  /** When the process began, in milliseconds since the epoch. */
  long startedEpochMillis();

  List<ListenerSnapshot> listeners();

  List<LoopSnapshot> loops();

  CacheSnapshot cache();

  /** Where stored responses lie. */
  TiersSnapshot tiers();

  /**
   * Whether requests leave the disk alone, from now on, until a configuration that says something
   * else is loaded.
   *
   * @return false if there is no disk
   */
  boolean choosePeak(PeakChoice choice);

  /** Watches for so long what other amounts of memory would hit; 0 ends that. */
  void watch(long seconds);

  /** What they would have hit; null if that was never watched. */
  @Nullable Forecast forecast();

  /** How many certificates are ordered and not issued yet. */
  default long missingCertificates() {
    return 0;
  }

  /** What became of the configuration file when it was last read. */
  default ReloadSnapshot reload() {
    return new ReloadSnapshot(true, Instant.ofEpochMilli(startedEpochMillis()).toString());
  }

  /** The nodes that this one is a cluster with; null if there are none. */
  default @Nullable Cluster cluster() {
    return null;
  }

  /** Which node owns what a request asks for; null if nobody does. */
  default @Nullable Ownership ownership(RequestHead request) {
    return null;
  }

  List<UpstreamSnapshot> upstreams();

  /** What came of draining an origin. */
  enum Draining {
    DONE,
    /** There is no such origin. */
    UNKNOWN,
    /** No other origin of its upstream would get requests. */
    LAST
  }

  /**
   * Gives an origin no new request for a while; the end of the process ends that, too.
   *
   * @param seconds how long; 0 to end it now
   */
  Draining drain(String upstream, String origin, long seconds);

  /** What came of naming an origin. */
  enum Leasing {
    DONE,
    /** There is no such upstream. */
    UNKNOWN,
    /** Something else names this origin. */
    NAMED,
    /** It cannot be asked in the protocol of the upstream, or by its TLS. */
    UNSUITED,
    /** The upstream has too many others. */
    FULL
  }

  /** Gives an upstream an origin for so long, or for so long from now. */
  Leasing lease(String upstream, OriginSettings origin, long seconds);

  /**
   * Takes that origin from it.
   *
   * @param origin host and port
   * @return false if it has none of that name by {@link #lease}
   */
  boolean endLease(String upstream, String origin);

  /** The routes in the order of the configuration, and what was asked of each. */
  List<RouteSnapshot> routes();

  /** How long requests took since the start. */
  RequestDurations durations();

  /** Some of the last requests, in no order. */
  List<RequestSample> requests();

  /**
   * What is asked for most, and about how often lately: octets of URLs, tags and addresses, one per
   * character.
   */
  default Map<String, Long> top(LoopTop.Kind kind) {
    return Map.of();
  }

  /** The recording of single requests, step by step. */
  Tracing tracing();

  /** How many requests of each loop become a sample in a second, at the most; 0 for none. */
  int samplesPerSecond();

  /** How the loops turn, in the order of {@link #loops}. */
  List<LoopTurns> turns();

  /**
   * What each loop sheds now, in the same order: of requests to be forwarded the share up to 1, of
   * all others what is over 1.
   */
  List<Double> shedShares();

  /** How the loops pace themselves. */
  PaceSettings pace();

  /** Another pace, from each loop's next turn on, until a configuration with another is loaded. */
  void pace(PaceSettings settings);

  /** Who decides on send buffers. */
  BufferTuner tuner();

  /**
   * What is stored for a target URI, all variants of it.
   *
   * @param url absolute, {@code http} or {@code https}; one that a request can have as its target
   */
  List<StoredObject> objects(String url);

  /**
   * What would become of a request, and why. Nothing is sent or stored.
   *
   * @param request borrowed
   * @param client whose request it is; null to leave that open
   */
  RequestExplanation explain(RequestHead request, @Nullable InetAddress client);

  /**
   * Purges what {@code target} is about; it holds from then on, {@linkplain #awaitKept soon} for
   * the next process, too.
   *
   * @param isSoft whether that is made stale, not removed
   * @param isDryRun whether that is only counted, and nothing changes
   * @return null if it is not possible now, and will be soon
   */
  @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft, boolean isDryRun);

  /** Waits until purges hold for the next process, too. Any thread. */
  default void awaitKept() {}

  /** The last purges, the newest first. */
  List<PurgeReport> purges();

  // What it is told

  /**
   * The last reload.
   *
   * @param successful false if the file was refused, and what ran goes on
   * @param lastSuccess when a configuration last came into force (RFC 3339)
   */
  record ReloadSnapshot(boolean successful, String lastSuccess) {}

  /**
   * One listener.
   *
   * @param address host and port it is bound to
   * @param connections open now
   * @param certificateExpires when the first of its certificates does (RFC 3339); null without TLS
   */
  record ListenerSnapshot(String address, long connections, @Nullable String certificateExpires) {}

  /**
   * One loop.
   *
   * @param name of its thread
   * @param requests since the start
   * @param connections of clients, open now
   * @param cpuSeconds its thread has used
   */
  record LoopSnapshot(String name, long requests, long connections, double cpuSeconds) {}

  /**
   * The cache.
   *
   * @param capacityBytes it may use
   * @param usedBytes it uses now
   * @param objects stored responses
   * @param hits requests answered from it since the start
   * @param misses requests forwarded since the start
   * @param hitRatio the share of requests that were answered from the cache, 0 before the first
   */
  record CacheSnapshot(
      long capacityBytes, long usedBytes, long objects, long hits, long misses, double hitRatio) {

    /** With the ratio that follows from hits and misses. */
    public CacheSnapshot(long capacityBytes, long usedBytes, long objects, long hits, long misses) {
      this(
          capacityBytes,
          usedBytes,
          objects,
          hits,
          misses,
          hits + misses == 0 ? 0 : (double) hits / (hits + misses));
    }
  }

  /**
   * Where stored responses lie.
   *
   * @param memory what the memory is taken by
   * @param keys how many target URIs something is stored under
   * @param evictions how many of them were forgotten for want of room, since the start
   * @param policy what chooses those
   * @param peak whether requests use the disk; null where there is none
   */
  record TiersSnapshot(
      MemorySnapshot memory,
      long keys,
      long evictions,
      PolicySnapshot policy,
      @Nullable PeakSnapshot peak) {}

  /**
   * One route, and what was asked of it since the start.
   *
   * @param name its host and path, as log and metrics have it
   * @param host such as {@code example.org}; {@code *} for any
   * @param cached whether its responses may be stored
   * @param hits requests answered from the store
   * @param failures requests answered with 5xx
   * @param lastRequest when its last request ended, as RFC 3339 says it; null if there was none
   */
  record RouteSnapshot(
      String name,
      String host,
      String path,
      String upstream,
      boolean cached,
      long requests,
      long hits,
      long failures,
      @Nullable String lastRequest) {}

  /**
   * How long requests took since the start, from the complete head to the last octet of the answer.
   *
   * @param hits those that were answered from the store
   * @param others those that an origin was asked about, or nobody
   */
  record RequestDurations(Histogram.Snapshot hits, Histogram.Snapshot others) {

    /** Both together. */
    public Histogram.Snapshot all() {
      return hits.plus(others);
    }
  }

  /**
   * What would become of a request, from its route on.
   *
   * @param route its most specific route, or null if there is none
   * @param explanation what is done, and why
   */
  record RequestExplanation(@Nullable MatchedRoute route, Explanation explanation) {}

  /**
   * The route of a request.
   *
   * @param name what log and metrics call it
   * @param host it answers for
   * @param path the beginning of the paths it answers for
   * @param upstream its requests are forwarded to
   * @param cached whether responses may be stored and reused
   */
  record MatchedRoute(String name, String host, String path, String upstream, boolean cached) {}
}
