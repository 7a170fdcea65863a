package io.kamille.launcher.appliance;

import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.names.OriginList;
import io.kamille.core.origin.names.OriginLists;
import io.kamille.core.origin.names.RegisteredOrigins.Registration;
import io.kamille.core.setting.OriginUrl;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The origins that upstreams have by the API.
 *
 * @param upstreams those in force
 * @param longest how long an answer of the API waits until an origin is in force: its name may be
 *     new
 */
record OriginsByApi(Upstreams upstreams, Duration longest) {

  private static final long LONGEST_SECONDS = 1;

  private static final int PARTS = 3;

  /** What came of registering an origin. */
  enum Registering {
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

  OriginsByApi(Upstreams upstreams) {
    this(upstreams, Duration.ofSeconds(LONGEST_SECONDS));
  }

  /** Gives an upstream an origin for so long, or for so long from now. */
  Registering put(String upstream, OriginSettings origin, long seconds) {
    Registration registration =
        new Registration(origin, nanos() + TimeUnit.SECONDS.toNanos(seconds));
    Registering result = put(upstream, registration);
    if (result == Registering.DONE) {
      await(upstreams.refreshLists());
    }
    return result;
  }

  private Registering put(String upstream, Registration registration) {
    OriginLists lists = upstreams.lists().get(upstream);
    OriginUrl url = registration.origin().url();
    if (lists == null) {
      return Registering.UNKNOWN;
    }
    OriginList naming = lists.naming().get(url);
    if (naming != null && naming.kind() != OriginList.NamedBy.API) {
      return Registering.NAMED;
    }
    if (!lists.protocol().suits(url) || (url.isSecure() && !upstreams.mayBeSecure(upstream))) {
      return Registering.UNSUITED;
    }
    return lists.registered().put(registration) ? Registering.DONE : Registering.FULL;
  }

  /**
   * Takes that origin from it.
   *
   * @param origin host and port
   * @return false if it has none of that name by {@link #put}
   */
  boolean end(String upstream, String origin) {
    OriginLists lists = upstreams.lists().get(upstream);
    if (lists == null) {
      return false;
    }
    List<OriginUrl> ended =
        lists.registered().origins().stream()
            .map(OriginSettings::url)
            .filter(url -> url.name().equals(origin))
            .toList();
    ended.forEach(url -> lists.registered().remove(url));
    if (!ended.isEmpty()) {
      await(upstreams.refreshLists());
    }
    return !ended.isEmpty();
  }

  private void await(Future<?> refreshed) {
    try {
      refreshed.get(longest.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      // It goes on.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException bug) {
      throw new IllegalStateException(bug);
    }
  }

  /** All of them for another process, each by the name of its upstream and its URL. */
  Map<String, String> words() {
    Map<String, String> words = new LinkedHashMap<>();
    long now = nanos();
    upstreams
        .lists()
        .forEach(
            (upstream, lists) ->
                lists
                    .registered()
                    .registrations()
                    .forEach(
                        registration -> {
                          OriginSettings origin = registration.origin();
                          words.put(
                              upstream + " " + origin.url(),
                              origin.weight()
                                  + " "
                                  + origin.backup()
                                  + " "
                                  + (registration.untilNanos() - now));
                        }));
    return words;
  }

  /**
   * Goes on with one that another process had a moment ago, with the next refresh.
   *
   * @throws IllegalArgumentException if the words are no such
   */
  void take(String name, String words) {
    int space = name.lastIndexOf(' ');
    String[] parts = words.split(" ", -1);
    OriginUrl url = OriginUrl.parse(name.substring(space + 1));
    if (parts.length != PARTS || url == null) {
      throw new IllegalArgumentException("origin: " + name + " " + words);
    }
    OriginSettings origin =
        new OriginSettings(url, Integer.parseInt(parts[0]), Boolean.parseBoolean(parts[1]));
    put(name.substring(0, space), new Registration(origin, nanos() + Long.parseLong(parts[2])));
  }

  /** Has the lists refreshed now and from now on. Blocks, as a start does. */
  void refresh() {
    upstreams.refreshLists();
    upstreams.takeIn();
  }

  private static long nanos() {
    return WallClock.system().nanos();
  }
}
