package io.kamille.admin.view;

import io.kamille.admin.tuning.BufferTuner;
import io.kamille.cache.StoredObject;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.trace.Tracing;
import java.net.InetAddress;
import java.util.List;
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
   * Purges what {@code target} is about; it holds from then on.
   *
   * @param isSoft whether that is made stale, not removed
   * @return null if it is not possible now, and will be soon
   */
  @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft);

  /** Counts what such a purge would be about, and changes nothing; null as above. */
  @Nullable PurgeReport countPurge(PurgeTarget target, boolean isSoft);

  /** The last purges, the newest first. */
  List<PurgeReport> purges();
}
