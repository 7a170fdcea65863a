package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.PeerSettings;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.auth.ForwardAuthSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.core.route.RouteMatch;
import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What must be true of several settings together, beside what a section says of its own. */
record CrossChecks(SectionValues file, Problems problems) {

  /*
   * They run even when single values were refused, so that one reading shows all that is wrong. A
   * refused value is absent here and takes part in no check.
   */

  private static final int NAMES_SHOWN = 10;

  /** A request is compared with each of them. */
  private static final int MOST_OF_ONE_PATH = 1_024;

  /** The configuration of these values, or the problems so far and those found here. */
  static ConfigurationReading conclude(SectionValues file, Problems problems) {
    new CrossChecks(file, problems).run();
    return problems.isEmpty()
        ? new ConfigurationReading.Accepted(Configuration.of(file))
        : new ConfigurationReading.Refused(problems.inOrder());
  }

  private void run() {
    file.check(problems);
    addressesDoNotOverlap();
    adminIsLocalUnlessMeant();
    routesNameUpstreams();
    routesDiffer();
    SectionValues cache = file.one(Configuration.CACHE);
    long memory = cache.one(SharedCacheSettings.MEMORY).value(MemorySettings.CAPACITY);
    isAtMost(cache, SharedCacheSettings.MAX_OBJECT_SIZE, memory, "cache.memory.capacity");
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      SectionValues ofRoute = route.one(RouteSettings.CACHE);
      statusCodesCanHaveLifetimes(ofRoute);
      bypassedPathsLieBelow(route.value(RouteSettings.PATH_PREFIX), ofRoute);
      new RouteChecks(route, problems).run();
    }
    new AcmeChecks(file, problems).run();
    new FileChecks(file, problems).run();
    new ClusterChecks(file.one(Configuration.CLUSTER), problems).run();
    for (SectionValues upstream : file.all(Configuration.UPSTREAMS)) {
      new OriginChecks(file, upstream, problems).run();
    }
  }

  private void addressesDoNotOverlap() {
    Map<HostPort, String> taken = new LinkedHashMap<>();
    for (SectionValues listener : file.all(Configuration.LISTENERS)) {
      HostPort address = listener.find(ListenerSettings.ADDRESS);
      claim(address, listener, ListenerSettings.ADDRESS, taken);
    }
    SectionValues admin = file.one(Configuration.ADMIN);
    HostPort address = admin.value(AdminSettings.ADDRESS).orElse(null);
    claim(address, admin, AdminSettings.ADDRESS, taken);
    SectionValues cluster = file.one(Configuration.CLUSTER);
    claim(cluster.find(ClusterSettings.ADDRESS), cluster, ClusterSettings.ADDRESS, taken);
    SectionValues peers = cluster.one(ClusterSettings.PEERS);
    claim(peers.find(PeerSettings.ADDRESS), peers, PeerSettings.ADDRESS, taken);
  }

  /** Two sockets share a port only on different interfaces; port 0 takes a free one each time. */
  private void claim(
      @Nullable HostPort address,
      SectionValues section,
      Setting<?> setting,
      Map<HostPort, String> taken) {
    if (address == null || address.port() == 0) {
      return;
    }
    for (Map.Entry<HostPort, String> other : taken.entrySet()) {
      HostPort its = other.getKey();
      boolean isMet = its.host().equals(address.host()) || its.isWildcard() || address.isWildcard();
      if (its.port() == address.port() && isMet) {
        boolean takesBoth = its.host().equals("::") || address.host().equals("::");
        String why = takesBoth ? ": [::] takes connections over IPv4, too" : "";
        String expected = "another address than " + other.getValue() + " has" + why;
        problems.conflict(section, setting, expected);
        return;
      }
    }
    taken.put(address, section.path(setting));
  }

  private void adminIsLocalUnlessMeant() {
    SectionValues admin = file.one(Configuration.ADMIN);
    HostPort address = admin.value(AdminSettings.ADDRESS).orElse(null);
    if (address != null && !address.isLoopback() && !admin.value(AdminSettings.ALLOW_REMOTE)) {
      problems.conflict(
          admin,
          AdminSettings.ADDRESS,
          "a loopback address such as 127.0.0.1:9090, or admin.allow-remote: on");
    }
  }

  private void routesNameUpstreams() {
    Set<String> known = new LinkedHashSet<>();
    file.all(Configuration.UPSTREAMS).forEach(upstream -> known.add(upstream.name()));
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      if (!RouteSettings.WELCOME.equals(route.find(RouteSettings.UPSTREAM))) {
        isKnown(route, RouteSettings.UPSTREAM, known);
      }
      isKnown(route.one(RouteActions.SPLIT), SplitSettings.UPSTREAM, known);
      isKnown(route.one(RouteActions.MIRROR), MirrorSettings.UPSTREAM, known);
      SectionValues forward = route.one(RouteSettings.AUTH).one(AuthSettings.FORWARD);
      isKnown(forward, ForwardAuthSettings.UPSTREAM, known);
    }
  }

  private void isKnown(SectionValues section, Setting<String> setting, Set<String> known) {
    String upstream = section.find(setting);
    if (upstream != null && !known.contains(upstream) && !known.isEmpty()) {
      String names = known.stream().limit(NAMES_SHOWN).collect(Collectors.joining(", "));
      String more = known.size() > NAMES_SHOWN ? ", …" : "";
      problems.conflict(section, setting, "the name of an upstream: " + names + more);
    } else if (upstream != null && known.isEmpty() && problems.isEmpty()) {
      problems.conflict(section, setting, "an upstream of that name under upstreams");
    }
  }

  private void routesDiffer() {
    Map<List<String>, Map<String, SectionValues>> before = new HashMap<>();
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      String host = Objects.requireNonNullElse(route.find(RouteSettings.HOST), "");
      String match = RouteMatch.SECTION.record(route.one(RouteSettings.MATCH)).toString();
      // Not a record, whose equals has a bootstrap method that each start would run.
      List<String> place = List.of(host, route.value(RouteSettings.PATH_PREFIX));
      Map<String, SectionValues> others = before.computeIfAbsent(place, any -> new HashMap<>());
      SectionValues other = others.putIfAbsent(match, route);
      if (others.size() > MOST_OF_ONE_PATH) {
        String expected = "at most " + MOST_OF_ONE_PATH + " routes for one host and path";
        problems.conflict(route, "one more", expected);
      }
      if (other != null) {
        String where = other.path() + " in " + other.position().lineSeenFrom(route.position());
        String what = match.isEmpty() ? "the host and path of " : "host, path and match of ";
        problems.conflict(route, what + where, "a route of its own");
      }
    }
  }

  private void isAtMost(SectionValues section, Setting<Long> setting, long most, String whose) {
    if (Objects.requireNonNullElse(section.find(setting), 0L) > most) {
      problems.conflict(section, setting, "at most the " + ByteSize.print(most) + " of " + whose);
    }
  }

  private void statusCodesCanHaveLifetimes(SectionValues cache) {
    for (SectionValues status : cache.all(RouteCacheSettings.STATUS_TTL)) {
      if (!StatusLifetimes.isCode(status.name())) {
        problems.add(
            Problem.Mistake.VALUE,
            status.position(),
            status.path(),
            Problems.quote(status.name()),
            "a status code of 200–599 such as 404, or a class such as 5xx; not 206, 304, 401,"
                + " 407, 412, 416 or 417");
      }
    }
  }

  private void bypassedPathsLieBelow(String path, SectionValues cache) {
    String below = path.endsWith("/") ? path : path + "/";
    for (String bypassed : cache.value(RouteCacheSettings.BYPASS_PATHS)) {
      if (!bypassed.startsWith(below)) {
        problems.conflict(
            cache,
            RouteCacheSettings.BYPASS_PATHS,
            Problems.quote(bypassed),
            "a path below the route's own, which is " + path);
      }
    }
  }
}
