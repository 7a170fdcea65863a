package io.kamille.launcher.configuration;

import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.HealthCheck;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.StickySettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.tls.OriginTlsSettings;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What must be true of the origins of an upstream, their protocol, their TLS and their files. */
record OriginChecks(SectionValues file, SectionValues upstream, Problems problems) {

  void run() {
    originsDiffer();
    originsCanSpeakTheProtocol();
    proxyHeadersGoToHttp11();
    checksHaveAKind(upstream.one(UpstreamSettings.HEALTH).one(HealthPolicy.CHECK));
    if (upstream.value(ChoiceSettings.CHOICE) != ChoiceSettings.Algorithm.CONSISTENT_HASH
        && upstream.isGiven(ChoiceSettings.HASH_KEY)
        && !problems.hasRefused(upstream.path(ChoiceSettings.CHOICE))) {
      problems.conflict(upstream, ChoiceSettings.HASH_KEY, "choice: consistent-hash beside it");
    }
    SectionValues sticky = upstream.one(ChoiceSettings.STICKY);
    cookiesAreSigned(sticky);
    if (sticky.isGiven(StickySettings.COOKIE)) {
      cookiesAreNotStored(sticky);
      if (upstream.value(ChoiceSettings.HEDGE).isOn()) {
        problems.conflict(
            upstream,
            ChoiceSettings.HEDGE,
            "off beside sticky, which keeps a client at one origin");
      }
    }
    someOriginIsNoBackup();
    upstream.all(UpstreamSettings.TLS).forEach(this::tlsIsOfUse);
  }

  private void originsDiffer() {
    Map<OriginUrl, String> first = new HashMap<>();
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      String other = url == null ? null : first.putIfAbsent(url, origin.path());
      if (other != null) {
        problems.conflict(
            origin,
            OriginSettings.URL,
            "another origin than " + other + ", whose weight gives it more requests");
      }
    }
  }

  private void originsCanSpeakTheProtocol() {
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url != null && !protocol.suits(url)) {
        problems.conflict(origin, OriginSettings.URL, protocol.expected());
      }
    }
  }

  private void proxyHeadersGoToHttp11() {
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    boolean isH2 = protocol == OriginProtocol.H2 || protocol == OriginProtocol.H2C;
    if (isH2 && upstream.value(ConnectionSettings.PROXY_PROTOCOL) != ProxyAnnouncement.OFF) {
      problems.conflict(
          upstream,
          ConnectionSettings.PROXY_PROTOCOL,
          "off beside protocol h2 and h2c, whose connections are shared among clients");
    }
  }

  /** What is said of checks that are off, or that ask for nothing, would have no effect. */
  private void checksHaveAKind(SectionValues check) {
    HealthCheck.Protocol kind = check.value(HealthCheck.KIND);
    for (Member member : HealthCheck.SECTION.members()) {
      if (member instanceof Setting<?> setting
          && check.isGiven(setting)
          && !setting.equals(HealthCheck.KIND)
          && !kind.uses(setting)) {
        problems.conflict(check, setting, "kind: " + kindsFor(setting) + " beside it");
      }
    }
    if (kind == HealthCheck.Protocol.GRPC) {
      allOriginsSpeakHttp2(check);
    }
  }

  private static String kindsFor(Setting<?> setting) {
    return Arrays.stream(HealthCheck.Protocol.values())
        .filter(kind -> kind.uses(setting))
        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(" or "));
  }

  private void allOriginsSpeakHttp2(SectionValues check) {
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    upstream.all(UpstreamGroup.ORIGINS).stream()
        .map(origin -> origin.find(OriginSettings.URL))
        .filter(url -> url != null && !protocol.mayBeH2(url.isSecure()))
        .findFirst()
        .ifPresent(
            url ->
                problems.conflict(
                    check,
                    HealthCheck.KIND,
                    "http or tcp for " + url + ", which is asked in HTTP/1.1; or protocol: h2c"));
  }

  private void cookiesAreSigned(SectionValues sticky) {
    boolean isInCluster = file.one(Configuration.CLUSTER).isGiven(ClusterSettings.NAME);
    if (!isInCluster || sticky.isGiven(StickySettings.SECRET_FILE)) {
      problems.together(
          sticky, StickySettings.COOKIE, "cookie", StickySettings.SECRET_FILE, "secret-file");
    }
    if (sticky.isGiven(StickySettings.COOKIE)) {
      problems.readable(
          sticky,
          StickySettings.SECRET_FILE,
          "a file of 16 to 4,096 bytes that can be read",
          StickySettings::read);
    }
  }

  /** What is stored with the cookie of one client would bring everybody to its origin. */
  private void cookiesAreNotStored(SectionValues sticky) {
    if (!file.one(Configuration.CACHE).value(SharedCacheSettings.STORE_SET_COOKIE)) {
      return;
    }
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      if (upstream.name().equals(route.find(RouteSettings.UPSTREAM))
          && route.one(RouteSettings.CACHE).value(RouteCacheSettings.ENABLED)) {
        problems.conflict(
            sticky,
            StickySettings.COOKIE,
            "cache.store-set-cookie: off beside it, or cache: off in " + route.path());
        return;
      }
    }
  }

  /** Whether it may have origins that nothing is known of yet. */
  private boolean hasLists() {
    return upstream.isGiven(UpstreamGroup.ORIGINS_FILE)
        || upstream.isGiven(UpstreamGroup.ORIGINS_SRV);
  }

  private void someOriginIsNoBackup() {
    List<SectionValues> origins = upstream.all(UpstreamGroup.ORIGINS);
    if (!origins.isEmpty()
        && !hasLists()
        && origins.stream().allMatch(origin -> origin.value(OriginSettings.BACKUP))) {
      problems.conflict(
          origins.getFirst(),
          OriginSettings.BACKUP,
          "on at each origin",
          "an origin without backup");
    }
  }

  private void tlsIsOfUse(SectionValues tls) {
    boolean mayBeSpoken =
        upstream.all(UpstreamGroup.ORIGINS).stream()
            .map(origin -> origin.find(OriginSettings.URL))
            .anyMatch(url -> url == null || url.isSecure());
    if (!hasLists() && !mayBeSpoken) {
      problems.conflict(tls, "no https:// origin beside it", "one, or no tls");
    }
    if (tls.value(OriginTlsSettings.CA).isPresent()) {
      if (!tls.value(OriginTlsSettings.VERIFY)) {
        problems.conflict(tls, OriginTlsSettings.CA, "no file where verify is off");
      } else {
        canBeUsed(tls, OriginTlsSettings.CA, OriginTlsSettings.SECTION.record(tls)::authorities);
      }
    }
    problems.together(
        tls, OriginTlsSettings.CERTIFICATE, "a certificate", OriginTlsSettings.KEY, "a key");
    if (tls.isGiven(OriginTlsSettings.CERTIFICATE) && tls.isGiven(OriginTlsSettings.KEY)) {
      canBeUsed(tls, OriginTlsSettings.KEY, OriginTlsSettings.SECTION.record(tls)::own);
    }
  }

  private void canBeUsed(SectionValues tls, Setting<?> setting, Problems.Reading reading) {
    problems.readable(tls, setting, "a file that can be used", reading);
  }
}
