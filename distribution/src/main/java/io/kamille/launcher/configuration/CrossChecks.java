package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What must be true of several settings together. */
final class CrossChecks {

  /*
   * They run even when single values were refused, so that one reading shows all that is wrong. A
   * refused value is absent here and takes part in no check.
   */

  private static final String ALL_INTERFACES = "";
  private static final int NAMES_SHOWN = 10;

  private final SectionValues file;
  private final Problems problems;

  private CrossChecks(SectionValues file, Problems problems) {
    this.file = file;
    this.problems = problems;
  }

  /** The configuration of these values, or the problems so far and those found here. */
  static ConfigurationReading conclude(SectionValues file, Problems problems) {
    var checks = new CrossChecks(file, problems);
    checks.addressesDoNotOverlap();
    checks.adminIsLocalUnlessMeant();
    checks.routesNameUpstreams();
    checks.routesDiffer();
    checks.statusCodesCanHaveLifetimes();
    checks.bypassedPathsLieBelowTheirRoutes();
    checks.parametersAreKeptOrIgnored();
    checks.rateLimitsHaveARate();
    checks.objectsFitTheCache();
    checks.aDiskHasACapacity();
    OriginChecks.run(file, problems);
    RouteChecks.run(file, problems);
    return problems.isEmpty()
        ? new ConfigurationReading.Accepted(Configuration.of(file))
        : new ConfigurationReading.Refused(problems.inOrder());
  }

  private void addressesDoNotOverlap() {
    Map<Integer, Map<String, String>> pathsByHostByPort = new HashMap<>();
    for (SectionValues listener : file.all(Configuration.LISTENERS)) {
      HostPort address = listener.find(ListenerSettings.ADDRESS);
      if (address != null) {
        claim(address, listener, ListenerSettings.ADDRESS, pathsByHostByPort);
      }
    }
    SectionValues admin = file.one(Configuration.ADMIN);
    Optional<HostPort> address = admin.value(AdminSettings.ADDRESS);
    address.ifPresent(it -> claim(it, admin, AdminSettings.ADDRESS, pathsByHostByPort));
  }

  /** Two sockets share a port only on different interfaces; port 0 takes a free one each time. */
  private void claim(
      HostPort address,
      SectionValues section,
      Setting<?> setting,
      Map<Integer, Map<String, String>> pathsByHostByPort) {
    if (address.port() == 0) {
      return;
    }
    Map<String, String> taken =
        pathsByHostByPort.computeIfAbsent(address.port(), port -> new LinkedHashMap<>());
    String host = address.isWildcard() ? ALL_INTERFACES : address.host();
    String other = taken.getOrDefault(host, taken.get(ALL_INTERFACES));
    if (other == null && address.isWildcard() && !taken.isEmpty()) {
      other = taken.values().iterator().next();
    }
    if (other == null) {
      taken.put(host, section.path(setting));
    } else {
      conflict(section, setting, address.toString(), "another address than " + other + " has");
    }
  }

  private void adminIsLocalUnlessMeant() {
    SectionValues admin = file.one(Configuration.ADMIN);
    HostPort address = admin.value(AdminSettings.ADDRESS).orElse(null);
    if (address != null && !address.isLoopback() && !admin.value(AdminSettings.ALLOW_REMOTE)) {
      conflict(
          admin,
          AdminSettings.ADDRESS,
          address.toString(),
          "a loopback address such as 127.0.0.1:9090, or admin.allow-remote: on");
    }
  }

  private void routesNameUpstreams() {
    List<String> names =
        file.all(Configuration.UPSTREAMS).stream().map(SectionValues::name).toList();
    Set<String> known = new HashSet<>(names);
    String expected =
        names.isEmpty()
            ? "an upstream of that name under upstreams"
            : "the name of an upstream: "
                + names.stream().limit(NAMES_SHOWN).collect(Collectors.joining(", "))
                + (names.size() > NAMES_SHOWN ? ", …" : "");
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      String upstream = route.find(RouteSettings.UPSTREAM);
      if (upstream != null
          && (!known.isEmpty() || problems.isEmpty())
          && !known.contains(upstream)
          && !upstream.equals(RouteSettings.WELCOME)) {
        conflict(route, RouteSettings.UPSTREAM, upstream, expected);
      }
      SectionValues split = route.one(RouteActions.SPLIT);
      SectionValues mirror = route.one(RouteActions.MIRROR);
      isKnown(split, SplitSettings.UPSTREAM, known, expected);
      isKnown(mirror, MirrorSettings.UPSTREAM, known, expected);
    }
  }

  private void isKnown(
      SectionValues section, Setting<String> setting, Set<String> known, String expected) {
    String upstream = section.find(setting);
    if (upstream != null && (!known.isEmpty() || problems.isEmpty()) && !known.contains(upstream)) {
      conflict(section, setting, upstream, expected);
    }
  }

  private void routesDiffer() {
    record Match(@Nullable String host, String path) {}
    Map<Match, String> first = new HashMap<>();
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      var match = new Match(route.find(RouteSettings.HOST), route.value(RouteSettings.PATH_PREFIX));
      String other = first.putIfAbsent(match, route.path());
      if (other != null) {
        problems.add(
            Problem.Kind.CONFLICT,
            route.position(),
            route.path(),
            "the host and path of " + other,
            "a route of its own");
      }
    }
  }

  private void statusCodesCanHaveLifetimes() {
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      SectionValues cache = route.one(RouteSettings.CACHE);
      for (SectionValues status : cache.all(RouteCacheSettings.STATUS_TTL)) {
        if (!StatusLifetimes.isCode(status.name())) {
          problems.add(
              Problem.Kind.VALUE,
              status.position(),
              status.path(),
              Problems.quote(status.name()),
              "a status code of 200–599 such as 404, or a class such as 5xx; not 206, 304, 401,"
                  + " 407, 412, 416 or 417");
        }
      }
    }
  }

  private void bypassedPathsLieBelowTheirRoutes() {
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      SectionValues cache = route.one(RouteSettings.CACHE);
      String path = route.value(RouteSettings.PATH_PREFIX);
      String below = path.endsWith("/") ? path : path + "/";
      for (String bypassed : cache.value(RouteCacheSettings.BYPASS_PATHS)) {
        if (!bypassed.startsWith(below)) {
          conflict(
              cache,
              RouteCacheSettings.BYPASS_PATHS,
              bypassed,
              "a path below the route's own, which is " + path);
        }
      }
    }
  }

  private void parametersAreKeptOrIgnored() {
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      SectionValues query = route.one(RouteSettings.CACHE).one(RouteCacheSettings.QUERY);
      if (query.isGiven(RouteCacheSettings.KEEP) && query.isGiven(RouteCacheSettings.IGNORE)) {
        conflict(
            query,
            RouteCacheSettings.IGNORE,
            String.join(", ", query.value(RouteCacheSettings.IGNORE)),
            "nothing, where keep says which parameters count");
      }
    }
  }

  private void rateLimitsHaveARate() {
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      SectionValues limit = route.one(RouteSettings.RATE_LIMIT);
      for (Member member : RateLimitSettings.SECTION.members()) {
        if (member instanceof Setting<?> setting
            && limit.isGiven(setting)
            && !limit.isGiven(RateLimitSettings.RATE)) {
          conflict(limit, setting, String.valueOf(limit.find(setting)), "a rate beside it");
        }
      }
    }
  }

  private void objectsFitTheCache() {
    SectionValues cache = file.one(Configuration.CACHE);
    long capacity = cache.one(SharedCacheSettings.MEMORY).value(MemorySettings.CAPACITY);
    if (cache.value(SharedCacheSettings.MAX_OBJECT_SIZE) > capacity) {
      conflict(
          cache,
          SharedCacheSettings.MAX_OBJECT_SIZE,
          ByteSize.print(cache.value(SharedCacheSettings.MAX_OBJECT_SIZE)),
          "at most the " + ByteSize.print(capacity) + " of cache.memory.capacity");
    }
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      objectsFitTheCache(route.one(RouteSettings.CACHE), cache);
    }
  }

  private void objectsFitTheCache(SectionValues ofRoute, SectionValues cache) {
    long limit = cache.value(SharedCacheSettings.MAX_OBJECT_SIZE);
    Long own = ofRoute.find(RouteCacheSettings.MAX_OBJECT_SIZE);
    if (own != null && own > limit) {
      conflict(
          ofRoute,
          RouteCacheSettings.MAX_OBJECT_SIZE,
          ByteSize.print(own),
          "at most the " + ByteSize.print(limit) + " of cache.max-object-size");
    }
  }

  private void aDiskHasACapacity() {
    SectionValues disk = file.one(Configuration.CACHE).one(SharedCacheSettings.DISK);
    Path path = disk.find(DiskSettings.PATH);
    Long capacity = disk.find(DiskSettings.CAPACITY);
    if (path != null && capacity == null) {
      conflict(disk, DiskSettings.PATH, path.toString(), "cache.disk.capacity beside it");
    } else if (path == null && capacity != null) {
      conflict(disk, DiskSettings.CAPACITY, ByteSize.print(capacity), "cache.disk.path beside it");
    }
  }

  private void conflict(SectionValues section, Setting<?> setting, String found, String expected) {
    problems.conflict(section, setting, Problems.quote(found), expected);
  }
}
