package io.kamille.launcher.configuration;

import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
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
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.tls.OriginTlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What must be true of the protocol and the TLS of an upstream, and of its files. */
final class OriginChecks {

  private final SectionValues tls;
  private final Problems problems;

  private OriginChecks(SectionValues tls, Problems problems) {
    this.tls = tls;
    this.problems = problems;
  }

  static void run(SectionValues file, Problems problems) {
    for (SectionValues upstream : file.all(Configuration.UPSTREAMS)) {
      originsDiffer(upstream, problems);
      originsCanSpeakTheProtocol(upstream, problems);
      proxyHeadersGoToHttp11(upstream, problems);
      checksHaveAKind(upstream, problems);
      hashKeysAreHashed(upstream, problems);
      cookiesAreSigned(upstream, problems);
      cookiesAreNotStored(file, upstream, problems);
      someOriginIsNoBackup(upstream, problems);
      for (SectionValues tls : upstream.all(UpstreamSettings.TLS)) {
        var checks = new OriginChecks(tls, problems);
        checks.someOriginSpeaksIt(upstream);
        checks.whatIsNotVerifiedNeedsNoAuthority();
        checks.certificateAndKeyComeTogether();
      }
    }
  }

  private static void originsDiffer(SectionValues upstream, Problems problems) {
    Map<OriginUrl, String> first = new HashMap<>();
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url == null) {
        continue;
      }
      String other = first.putIfAbsent(url, origin.path());
      if (other != null) {
        problems.conflict(
            origin,
            OriginSettings.URL,
            "another origin than " + other + ", whose weight gives it more requests");
      }
    }
  }

  private static void originsCanSpeakTheProtocol(SectionValues upstream, Problems problems) {
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url != null && !protocol.suits(url)) {
        problems.conflict(origin, OriginSettings.URL, protocol.expected());
      }
    }
  }

  private static void proxyHeadersGoToHttp11(SectionValues upstream, Problems problems) {
    ProxyAnnouncement chosen = upstream.value(ConnectionSettings.PROXY_PROTOCOL);
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    boolean isH2 = protocol == OriginProtocol.H2 || protocol == OriginProtocol.H2C;
    if (chosen != ProxyAnnouncement.OFF && isH2) {
      problems.conflict(
          upstream,
          ConnectionSettings.PROXY_PROTOCOL,
          chosen.name().toLowerCase(Locale.ROOT),
          "off beside protocol h2 and h2c, whose connections are shared among clients");
    }
  }

  /** What is said of checks that are off, or that ask for nothing, would have no effect. */
  private static void checksHaveAKind(SectionValues upstream, Problems problems) {
    SectionValues check = upstream.one(UpstreamSettings.HEALTH).one(HealthPolicy.CHECK);
    HealthCheck.Kind kind = check.value(HealthCheck.KIND);
    for (Member member : HealthCheck.SECTION.members()) {
      if (member instanceof Setting<?> setting
          && check.isGiven(setting)
          && !setting.equals(HealthCheck.KIND)
          && !kind.uses(setting)) {
        problems.conflict(check, setting, "kind: " + kindsFor(setting) + " beside it");
      }
    }
    if (kind == HealthCheck.Kind.GRPC) {
      allOriginsSpeakHttp2(upstream, check, problems);
    }
  }

  private static String kindsFor(Setting<?> setting) {
    return Arrays.stream(HealthCheck.Kind.values())
        .filter(kind -> kind.uses(setting))
        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(" or "));
  }

  private static void allOriginsSpeakHttp2(
      SectionValues upstream, SectionValues check, Problems problems) {
    OriginProtocol protocol = upstream.value(UpstreamSettings.PROTOCOL);
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url != null && !protocol.mayBeH2(url.isSecure())) {
        problems.conflict(
            check,
            HealthCheck.KIND,
            "grpc",
            "http or tcp for " + url + ", which is asked in HTTP/1.1; or protocol: h2c");
        return;
      }
    }
  }

  private static void hashKeysAreHashed(SectionValues upstream, Problems problems) {
    if (upstream.isGiven(ChoiceSettings.HASH_KEY)
        && upstream.value(ChoiceSettings.CHOICE) != ChoiceSettings.Kind.CONSISTENT_HASH
        && !problems.hasRefused(upstream.path(ChoiceSettings.CHOICE))) {
      problems.conflict(upstream, ChoiceSettings.HASH_KEY, "choice: consistent-hash beside it");
    }
  }

  private static void cookiesAreSigned(SectionValues upstream, Problems problems) {
    SectionValues sticky = upstream.one(ChoiceSettings.STICKY);
    String cookie = sticky.find(StickySettings.COOKIE);
    if (cookie != null && upstream.value(ChoiceSettings.HEDGE).isOn()) {
      problems.conflict(
          upstream,
          ChoiceSettings.HEDGE,
          upstream.printed(ChoiceSettings.HEDGE),
          "off beside sticky, which keeps a client at one origin");
    }
    Path secret = sticky.find(StickySettings.SECRET_FILE);
    if (cookie != null && secret == null) {
      problems.conflict(sticky, StickySettings.COOKIE, "secret-file beside it");
    } else if (secret != null && cookie == null && !problems.hasRefused(sticky.path())) {
      problems.conflict(sticky, StickySettings.SECRET_FILE, "cookie beside it");
    } else if (secret != null) {
      try {
        StickySettings.read(secret);
      } catch (IOException unusable) {
        problems.conflict(
            sticky,
            StickySettings.SECRET_FILE,
            "a file of 16 to 4,096 bytes that can be read (" + unusable.getMessage() + ")");
      }
    }
  }

  /** What is stored with the cookie of one client would bring everybody to its origin. */
  private static void cookiesAreNotStored(
      SectionValues file, SectionValues upstream, Problems problems) {
    SectionValues sticky = upstream.one(ChoiceSettings.STICKY);
    String cookie = sticky.find(StickySettings.COOKIE);
    boolean isStored = file.one(Configuration.CACHE).value(SharedCacheSettings.STORE_SET_COOKIE);
    if (cookie == null || !isStored) {
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
  private static boolean hasLists(SectionValues upstream) {
    return upstream.isGiven(UpstreamGroup.ORIGINS_FILE)
        || upstream.isGiven(UpstreamGroup.ORIGINS_SRV);
  }

  private static void someOriginIsNoBackup(SectionValues upstream, Problems problems) {
    List<SectionValues> origins = upstream.all(UpstreamGroup.ORIGINS);
    if (!origins.isEmpty()
        && !hasLists(upstream)
        && origins.stream().allMatch(origin -> origin.value(OriginSettings.BACKUP))) {
      problems.conflict(
          origins.getFirst(),
          OriginSettings.BACKUP,
          "on at each origin",
          "an origin without backup");
    }
  }

  private void someOriginSpeaksIt(SectionValues upstream) {
    if (hasLists(upstream)) {
      return;
    }
    for (SectionValues origin : upstream.all(UpstreamGroup.ORIGINS)) {
      OriginUrl url = origin.find(OriginSettings.URL);
      if (url == null || url.isSecure()) {
        return;
      }
    }
    problems.add(
        Problem.Kind.CONFLICT,
        tls.position(),
        tls.path(),
        "no https:// origin beside it",
        "one, or no tls");
  }

  private void whatIsNotVerifiedNeedsNoAuthority() {
    Path ca = tls.value(OriginTlsSettings.CA).orElse(null);
    if (ca != null && !tls.value(OriginTlsSettings.VERIFY)) {
      problems.conflict(tls, OriginTlsSettings.CA, "no file where verify is off");
    } else if (ca != null) {
      read(OriginTlsSettings.CA, OriginTlsSettings.SECTION.record(tls)::authorities);
    }
  }

  private void certificateAndKeyComeTogether() {
    Path certificate = tls.find(OriginTlsSettings.CERTIFICATE);
    Path key = tls.find(OriginTlsSettings.KEY);
    if (certificate != null && key != null) {
      read(OriginTlsSettings.KEY, OriginTlsSettings.SECTION.record(tls)::own);
    } else if (certificate != null) {
      problems.conflict(tls, OriginTlsSettings.CERTIFICATE, "a key beside it");
    } else if (key != null) {
      problems.conflict(tls, OriginTlsSettings.KEY, "a certificate beside it");
    }
  }

  /** Reads a file, and fails with one sentence. */
  @FunctionalInterface
  private interface Reading {
    @Nullable Object run() throws IOException;
  }

  private void read(Setting<?> setting, Reading reading) {
    try {
      reading.run();
    } catch (IOException unusable) {
      problems.conflict(tls, setting, "a file that can be used (" + unusable.getMessage() + ")");
    }
  }
}
