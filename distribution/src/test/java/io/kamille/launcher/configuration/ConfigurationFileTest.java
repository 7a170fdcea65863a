package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cache.tiers.DiskCopies.Admission;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.client.open.IdleTimeoutGovernor;
import io.kamille.core.client.open.LimitSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.gate.ClientLimits;
import io.kamille.core.gate.OverloadSettings;
import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.log.AccessLogSettings;
import io.kamille.core.log.LogSettings;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigurationFileTest {

  private static final String LEAST =
      """
      listeners: ["127.0.0.1:8080"]
      upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
      routes: [{upstream: web}]
      """;

  private static final ListenerSettings ANY_LISTENER =
      Sections.of(ListenerSettings.SECTION, "address: ':0'");
  private static final RouteSettings ANY_ROUTE = RouteSettings.SECTION.defaults();

  @Test
  void threeLinesAreAConfiguration() {
    Configuration configuration = accepted(LEAST);
    assertThat(configuration.listeners())
        .containsExactly(
            Sections.copy(ANY_LISTENER)
                .with("address", new HostPort("127.0.0.1", 8080))
                .with("name", "127.0.0.1:8080")
                .record());
    assertThat(configuration.routes())
        .containsExactly(Sections.copy(ANY_ROUTE).with("upstream", "web").record());
    assertThat(configuration.upstream("web").settings().connectTimeout())
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(configuration.cache().maxObjectSizeBytes()).isEqualTo(32L << 20);
    assertThat(configuration.limits().connection().maxContentBytes()).isEqualTo(Long.MAX_VALUE);
    assertThat(configuration.admin().address()).contains(new HostPort("127.0.0.1", 9090));
  }

  @Test
  void everySettingArrivesInItsRecord() {
    Configuration configuration =
        accepted(
            """
            listeners: [{address: "[::1]:80", access: {allow: [10.0.0.0/8, "::1"], deny: [10.1.0.0/16]}}]
            loops: 3
            upstreams:
              web:
                origins: [{url: "http://a:1", weight: 2}, "http://b"]
                choice: round-robin
                connect-timeout: 2s
                head-timeout: 3s
                content-timeout: 4s
                idle-timeout: 5s
                max-connections: 6
                queue-timeout: 18s
                upload-buffer: 20KiB
                retries: 2
                health: {failures: 8, failure-ratio: 0.7, out-for: 9s}
            routes:
              - host: "*.Example.org"
                path: /shop
                upstream: web
                host-rewrite: inner:81
                upgrades: [websocket, tls/1.3]
                access: {allow: ["::1"], deny: [10.0.0.0/8]}
                rate-limit: {rate: 90/m, burst: 7, key: "field:X-Api-Key"}
                cache:
                  compress: on
                  ttl: 1m
                  status-ttl: {404: 30s, 5xx: {ttl: 1s}}
                  default-ttl: 10m
                  stale-while-revalidate: 2s
                  stale-if-error: 1h
                  stale-after: 4s
                  max-stale: 1d
                  fill-ranges: on
                  bypass-cookies: [session, wp_*]
                  bypass-paths: [/shop/cart, /shop/my]
                  vary-by: [X-Device, "language:de,en", "cookie:currency", images]
                  query: {keep: [id, filter_*], sort: on}
              - {host: example.org, upstream: web, cache: off}
            cache:
              memory: {capacity: 1GiB, prefault: on, sendfile-from: 256KiB}
              max-object-size: 2MiB
              policy: lru
              disk: {path: /var/cache/kamille, capacity: 1GiB, admit: always, keep-memory: off, peak: forced}
              compression: {codings: [br, gzip], types: [text/*, a/b], set-cookie: on}
              store-set-cookie: on
              purge-from: [10.0.0.0/8, "::1"]
              tag-fields: [Page-Tags]
              variants: 64
            overload: {target: 8ms}
            limits:
              head-size: 2KiB
              connections: 4
              idle-threshold: 0.5
              client: {connections: 5, requests: 6, unlimited: [192.0.2.0/24]}
              head-timeout: 5s
              idle-timeout: 6s
              content-timeout: 7s
              tunnel-timeout: 8s
              min-rate: 2KiB
              request-content: 8MB
              shutdown-delay: 4s
              drain-deadline: 9s
            forwarding: {x-forwarded: append, forwarded: on, removed-fields: [X-A, X-B]}
            log: {access: {enabled: on, output: /tmp/a.log, format: json}, level: debug}
            admin: {address: off, token-file: /etc/token}
            """);
    assertThat(configuration.listeners())
        .containsExactly(
            Sections.copy(ANY_LISTENER)
                .with("address", new HostPort("::1", 80))
                .with("name", "[::1]:80")
                .with("access", access(List.of("10.0.0.0/8", "::1"), List.of("10.1.0.0/16")))
                .record());
    assertThat(configuration.loops()).isEqualTo(3);
    UpstreamGroup web = configuration.upstream("web");
    assertThat(web.origins()).containsExactly(origin("a", 1, 2), origin("b", 80, 1));
    assertThat(web.settings())
        .isEqualTo(
            Sections.copy(UpstreamSettings.DEFAULTS)
                .with("choice.kind", ChoiceSettings.Algorithm.ROUND_ROBIN)
                .with("connectTimeout", Duration.ofSeconds(2))
                .with("retries", 2)
                .with("health.failuresUntilOut", 8)
                .with("health.failureRatio", 0.7)
                .with("health.outFor", Duration.ofSeconds(9))
                .with("pool.maxConnections", 6)
                .with("pool.maxWaiting", 12)
                .with("pool.queueTimeout", Duration.ofSeconds(18))
                .with("pool.idleTimeout", Duration.ofSeconds(5))
                .with("pool.uploadBufferBytes", 20 << 10)
                .with("connection.headTimeout", Duration.ofSeconds(3))
                .with("connection.contentTimeout", Duration.ofSeconds(4))
                .record());
    assertThat(configuration.routes())
        .containsExactly(
            Sections.copy(ANY_ROUTE)
                .with("host", "*.example.org")
                .with("path", "/shop")
                .with("upstream", "web")
                .with("hostRewrite", "inner:81")
                .with("upgrades", List.of("websocket", "tls/1.3"))
                .with("access", access(List.of("::1"), List.of("10.0.0.0/8")))
                .with(
                    "limits.rates",
                    List.of(
                        Sections.copy(Sections.of(RateLimitSettings.SECTION, "rate: 1/s"))
                            .with("rate", new RateLimitSettings.Rate(90, TimeUnit.MINUTES))
                            .with("burst", 7)
                            .with("key", new RateLimitSettings.Key("X-Api-Key", false))
                            .record()))
                .with("cache.compresses", true)
                .with("cache.ttlSeconds", 60)
                .with(
                    "cache.statusTtl",
                    Map.of(
                        "404",
                        new RouteCacheSettings.StatusTtl(30),
                        "5xx",
                        new RouteCacheSettings.StatusTtl(1)))
                .with("cache.defaultTtlSeconds", 600)
                .with("cache.stale", new StaleLimits(2, 3_600, 86_400, Duration.ofSeconds(4)))
                .with("cache.fillsRanges", true)
                .with("cache.bypassCookies", List.of("session", "wp_*"))
                .with("cache.bypassPaths", List.of("/shop/cart", "/shop/my"))
                .with(
                    "cache.varyBy",
                    List.of("X-Device", "language:de,en", "cookie:currency", "images"))
                .with("cache.query.keep", List.of("id", "filter_*"))
                .with("cache.query.sorts", true)
                .record(),
            Sections.copy(ANY_ROUTE)
                .with("host", "example.org")
                .with("upstream", "web")
                .with("cache.isEnabled", false)
                .record());
    assertThat(configuration.cache())
        .isEqualTo(
            Sections.copy(SharedCacheSettings.SECTION.defaults())
                .with("memory.capacityBytes", 1L << 30)
                .with("memory.isPrefaulted", true)
                .with("memory.sendfileFromBytes", 256L << 10)
                .with("maxObjectSizeBytes", 2L << 20)
                .with("policy", PolicyChoice.LRU)
                .with("disk.path", Path.of("/var/cache/kamille"))
                .with("disk.capacityBytes", 1L << 30)
                .with("disk.admission", Admission.ALWAYS)
                .with("disk.keepsMemory", false)
                .with("disk.peak", PeakChoice.FORCED)
                .with("compression.codings", List.of(ContentCoding.BR, ContentCoding.GZIP))
                .with("compression.types", List.of("text/*", "a/b"))
                .with("compression.withSetCookie", true)
                .with("storesSetCookie", true)
                .with("purgeFrom", AddressRanges.parse(List.of("10.0.0.0/8", "::1")))
                .with("tagFields", new TagFields(List.of("Page-Tags")))
                .with("variants", 64)
                .record());
    assertThat(configuration.overload()).isEqualTo(new OverloadSettings(Duration.ofMillis(8)));
    assertThat(configuration.limits())
        .isEqualTo(
            Sections.copy(LimitSettings.SECTION.defaults())
                .with("connection.head", new HeadLimits(512, 100, 2 << 10))
                .with("connection.headTimeout", Duration.ofSeconds(5))
                .with("connection.idleTimeout", Duration.ofSeconds(6))
                .with("connection.contentTimeout", Duration.ofSeconds(7))
                .with("connection.tunnelTimeout", Duration.ofSeconds(8))
                .with("connection.minBytesPerSecond", 2 << 10)
                .with("connection.maxContentBytes", 8_000_000)
                .with("connections", 4)
                .with("idleThreshold", new IdleTimeoutGovernor(0.5))
                .with(
                    "client", new ClientLimits(5, 6, AddressRanges.parse(List.of("192.0.2.0/24"))))
                .with("shutdownDelay", Duration.ofSeconds(4))
                .with("drainDeadline", Duration.ofSeconds(9))
                .record());
    assertThat(configuration.forwarding())
        .isEqualTo(
            Sections.copy(ForwardingSettings.DEFAULTS)
                .with("xForwarded", ForwardingSettings.Mode.APPEND)
                .with("forwarded", ForwardingSettings.Mode.REPLACE)
                .with("removedFields", List.of("X-A", "X-B"))
                .record());
    assertThat(configuration.log())
        .isEqualTo(
            Sections.copy(LogSettings.SECTION.defaults())
                .with("access.isEnabled", true)
                .with("access.output", Optional.of(Path.of("/tmp/a.log")))
                .with("access.format", AccessLogSettings.Format.JSON)
                .with("level", Level.DEBUG)
                .record());
    assertThat(configuration.admin().address()).isEmpty();
    assertThat(configuration.admin().allowsRemote()).isFalse();
    assertThat(configuration.admin().tokenFile()).isEqualTo(Path.of("/etc/token"));
  }

  private static OriginSettings origin(String host, int port, int weight) {
    return new OriginSettings(new OriginUrl(false, host, port), weight, false);
  }

  private static AccessList access(List<String> allow, List<String> deny) {
    return new AccessList(AddressRanges.parse(allow), AddressRanges.parse(deny));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "output: /tmp/a.log | true",
        "output: stdout | true",
        "format: json | true",
        "enabled: off, output: /tmp/a.log | false"
      })
  void whoSaysWhereOrHowTheAccessLogIsWrittenHasIt(String access, boolean isEnabled) {
    Configuration configuration = accepted(LEAST + "log: {access: {" + access + "}}");
    assertThat(configuration.log().access().isEnabled()).isEqualTo(isEnabled);
  }

  @Test
  void fiveMistakesAreFiveProblems() {
    assertThat(
            refused(
                """
                listeners:
                  - address: 127.0.0.1:99999
                upstreams:
                  web:
                    origins:
                      - ftp://127.0.0.1:9000
                    connect-timeout: 5
                routes:
                  - upstream: wbe
                cache:
                  memory:
                    capcity: 8GiB
                """))
        .containsExactly(
            "kamille.yaml:2:14: listeners[0].address: found \"127.0.0.1:99999\", expected HOST:PORT"
                + " with a port of 1–65535",
            "kamille.yaml:6:9: upstreams.web.origins[0].url: found \"ftp://127.0.0.1:9000\","
                + " expected http://HOST[:PORT] or https://HOST[:PORT] with nothing behind it",
            "kamille.yaml:7:22: upstreams.web.connect-timeout: found \"5\", expected a duration of"
                + " 1ms–5m such as 250ms, 30s, 5m or 1h",
            "kamille.yaml:9:15: routes[0].upstream: found \"wbe\", expected the name of an"
                + " upstream: web",
            "kamille.yaml:12:5: cache.memory.capcity: unknown key (did you mean \"capacity\"?)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "listeners: [':80', ':80'] | 1:20: listeners[1].address: found \":80\", expected another"
            + " address than listeners[0].address has",
        "admin: { address: '10.0.0.1:9090' } | 4:19: admin.address: found \"10.0.0.1:9090\","
            + " expected a loopback address such as 127.0.0.1:9090, or admin.allow-remote: on",
        "listeners: ['1.2.3.4:80', '0.0.0.0:80'] | 1:27: listeners[1].address: found"
            + " \"0.0.0.0:80\", expected another address than listeners[0].address has",
        "listeners: [':80', '[::1]:80'] | 1:20: listeners[1].address: found \"[::1]:80\", expected"
            + " another address than listeners[0].address has",
        "listeners: ['0.0.0.0:80', '[::]:80'] | 1:27: listeners[1].address: found \"[::]:80\","
            + " expected another address than listeners[0].address has: [::] takes connections over"
            + " IPv4, too",
        "admin: {address: ':8080', allow-remote: on} | 4:18: admin.address: found \":8080\","
            + " expected another address than listeners[0].address has",
        "cache: {memory: {capacity: 1MiB}, max-object-size: 2MiB} | 4:52: cache.max-object-size:"
            + " found \"2MiB\", expected at most the 1MiB of cache.memory.capacity",
        "routes: [{upstream: web}, {upstream: web, path: /}] | 3:27: routes[1]: found the host and"
            + " path of routes[0] in line 3, expected a route of its own",
        "routes: [{upstream: web, host: A.b}, {upstream: web, host: a.B}] | 3:38: routes[1]: found"
            + " the host and path of routes[0] in line 3, expected a route of its own",
        "routes: [{upstream: web, cache: {ttl: 1500ms}}] | 3:39: routes[0].cache.ttl: found"
            + " \"1500ms\", expected a duration of 1s–8760h in whole seconds such as 30s, 5m or 1h",
        "routes: [{upstream: web, cache: {status-ttl: {304: 1s}}}] | 3:52:"
            + " routes[0].cache.status-ttl.304: found \"304\", expected a status code of 200–599"
            + " such as 404, or a class such as 5xx; not 206, 304, 401, 407, 412, 416 or 417",
        "routes: [{upstream: web, path: /a, cache: {bypass-paths: [/a/b, /ab]}}] | 3:58:"
            + " routes[0].cache.bypass-paths: found \"/ab\", expected a path below the route's own,"
            + " which is /a",
        "routes: [{upstream: web, cache: {vary-by: [Forwarded]}}] | 3:44:"
            + " routes[0].cache.vary-by[0]: found \"Forwarded\", expected the name of a request"
            + " field, but not Forwarded or X-Forwarded-For; cookie:NAME; \"language:TAG,TAG\" with"
            + " two tags or more and no blank; images; or device",
        "routes: [{upstream: web, cache: {vary-by: [images, 'language:de, en']}}] | 3:52:"
            + " routes[0].cache.vary-by[1]: found \"language:de, en\", expected the name of a"
            + " request field, but not Forwarded or X-Forwarded-For; cookie:NAME;"
            + " \"language:TAG,TAG\" with two tags or more and no blank; images; or device",
        "cache: {tag-fields: [xkey, Set-Cookie]} | 4:28: cache.tag-fields[1]: found \"Set-Cookie\","
            + " expected the name of a response field that Kamille does not use otherwise",
        "cache: {purge-from: [127.0.0.1, 10.0.0.1/8]} | 4:33: cache.purge-from[1]: found"
            + " \"10.0.0.1/8\", expected an IP address, or a range such as 10.0.0.0/8 or"
            + " 2001:db8::/32 with no bit set behind its prefix",
        "routes: [{upstream: web, cache: {query: {keep: [a], ignore: [b]}}}] | 3:61:"
            + " routes[0].cache.query.ignore: found \"b\", expected nothing, where keep says which"
            + " parameters count",
        "routes: [{upstream: a}] | 3:21: routes[0].upstream: found \"a\", expected the name of an"
            + " upstream: web",
        "routes: [{upstream: web, auth: {}}] | 3:32: routes[0].auth: found nothing, expected one of"
            + " basic, forward and jwt",
        "routes: [{upstream: web, auth: {forward: {path: /a}}}] | 3:42:"
            + " routes[0].auth.forward.upstream: found nothing, expected a value (name of an"
            + " upstream)",
        "routes: [{upstream: web, auth: {basic: {}}}] | 3:40: routes[0].auth.basic.users-file:"
            + " found nothing, expected a value (file)",
        "routes: [{upstream: web, auth: {forward: {upstream: b}}}] | 3:53:"
            + " routes[0].auth.forward.upstream: found \"b\", expected the name of an upstream:"
            + " web",
        "routes: [{upstream: web, auth: {forward: {upstream: web, response-fields: [Host]}}}] |"
            + " 3:75: routes[0].auth.forward.response-fields: found \"Host\", expected the name of"
            + " a field that neither frames messages nor is Host (host-rewrite)",
        "routes: [{upstream: web, response-headers: {remove: [Age]}}] | 3:53:"
            + " routes[0].response-headers.remove: found \"Age\", expected another field: Kamille"
            + " adds Age and Date to each response itself",
        "routes: [{upstream: web, response-headers: {set: {date: x}}}] | 3:57:"
            + " routes[0].response-headers.set.date: found \"date\", expected another field:"
            + " Kamille adds Age and Date to each response itself",
        "routes: [{upstream: web, auth: {basic: {users-file: /no/users}}}] | 3:53:"
            + " routes[0].auth.basic.users-file: found \"/no/users\", expected a file of users (no"
            + " file of this name)",
        "routes: [{upstream: web, auth: {jwt: {keys: 'http://a/', issuer: b}}}] | 3:45:"
            + " routes[0].auth.jwt.keys: found \"http://a/\", expected the path of a file, an"
            + " https:// URL, or an http:// URL of this machine",
        "routes: [{upstream: web, host: *.a.b}] | 3:33: found a * without a name, expected quotes"
            + " around text that begins with *",
        "routes: [{upstream: web, host: 'a:80'}] | 3:32: routes[0].host: found \"a:80\", expected a"
            + " host such as example.org, or *.example.org in quotes",
        "routes: [{upstream: web, path: shop}] | 3:32: routes[0].path: found \"shop\", expected a"
            + " path that begins with / and has no ?, #, *, space, //, /./, /../ or encoded letter;"
            + " what lies below is meant, too",
        "routes: [{upstream: web, path: /a//b}] | 3:32: routes[0].path: found \"/a//b\", expected a"
            + " path that begins with / and has no ?, #, *, space, //, /./, /../ or encoded letter;"
            + " what lies below is meant, too",
        "routes: [{upstream: web, path: '/a/*'}] | 3:32: routes[0].path: found \"/a/*\", expected a"
            + " path that begins with / and has no ?, #, *, space, //, /./, /../ or encoded letter;"
            + " what lies below is meant, too",
        "routes: [{upstream: web, host-rewrite: 'a:b'}] | 3:40: routes[0].host-rewrite: found"
            + " \"a:b\", expected HOST[:PORT]",
        "routes: [{path: /a}] | 3:10: routes[0]: found no answer, expected one of upstream, root,"
            + " redirect and respond",
        "routes: [{upstream: web, respond: 404}] | 3:10: routes[0]: found upstream and respond,"
            + " expected one of upstream, root, redirect and respond",
        "routes: [{root: /no/such}] | 3:17: routes[0].root: found \"/no/such\", expected a"
            + " directory that can be read",
        "routes: [{respond: {status: 200, file: /dev/ptmx}}] | 3:40: routes[0].respond.file: found"
            + " \"/dev/ptmx\", expected a file of at most 1MiB that can be read (it is no"
            + " regular file)",
        "routes: [{respond: {status: 99}}] | 3:29: routes[0].respond.status: found \"99\", expected"
            + " a whole number of 200–599",
        "routes: [{respond: {status: 200, body: x, file: /etc/os-release}}] | 3:20:"
            + " routes[0].respond: found body and file, expected one of them",
        "routes: [{respond: {status: 205, body: x}}] | 3:29: routes[0].respond.status: found 205,"
            + " expected no body and no file beside it, because that status has no content",
        "routes: [{respond: 404, cache: off}] | 3:10: routes[0].cache: found beside respond,"
            + " expected upstream in place of respond, or no cache",
        "routes: [{upstream: web, response-headers: {set: {Content-Length: 1}}}] | 3:67:"
            + " routes[0].response-headers.set.Content-Length: found \"Content-Length\", expected"
            + " the name of a field that neither frames messages nor is Host (host-rewrite)",
        "routes: [{upstream: web, error-pages: {5xx: /no/page}}] | 3:45:"
            + " routes[0].error-pages.5xx.file: found \"/no/page\", expected a file of at most 1MiB"
            + " that can be read (no file of this name)",
        "routes: [{upstream: web, error-pages: {399: {body: x}}}] | 3:45:"
            + " routes[0].error-pages.399: found \"399\", expected a status code of 400–599 such as"
            + " 404, or 4xx or 5xx",
        "routes: [{upstream: web, error-pages: {404: {intercept: on}}}] | 3:45:"
            + " routes[0].error-pages.404: found neither body nor file, expected one of them",
        "routes: [{respond: 404, error-pages: {4xx: {body: x, intercept: on}}}] | 3:65:"
            + " routes[0].error-pages.4xx.intercept: found on, expected off, because the route has"
            + " no upstream",
        "routes: [{upstream: web, split: {upstream: wev}}] | 3:44: routes[0].split.upstream: found"
            + " \"wev\", expected the name of an upstream: web",
        "routes: [{upstream: web, mirror: {upstream: web}}] | 3:45: routes[0].mirror.upstream:"
            + " found \"web\", expected another upstream than the route's own",
        "routes: [{upstream: web, split: {share: 0.5}}] | 3:41: routes[0].split.share: found"
            + " \"0.5\", expected upstream beside it",
        "routes: [{respond: 404, mirror: {upstream: web}}] | 3:10: routes[0].mirror: found beside"
            + " respond, expected upstream in place of respond, or no mirror",
        "log: {access: {fields: {add: [cookies]}}} | 4:31: log.access.fields.add[0]: found"
            + " \"cookies\", expected request-field:NAME, response-field:NAME, request-id,"
            + " trace-id, origin, origin-time or tls-version; at most 16",
        "routes: [{redirect: '//evil.org'}] | 3:21: routes[0].redirect.to: found \"//evil.org\","
            + " expected a URL or a path, with {host}, {path} or {uri} for those of the request",
        "upstreams: {web: {origins: ['http://a'], hedge: p95, sticky: {cookie: c, secret-file:"
            + " /etc/os-release}}} | 2:49: upstreams.web.hedge: found \"p95\", expected off beside"
            + " sticky, which keeps a client at one origin",
        "upstreams: {web: {origins: ['http://a', 'http://b', 'http://A:80/']}} | 2:53:"
            + " upstreams.web.origins[2].url: found \"http://a\", expected another origin than"
            + " upstreams.web.origins[0], whose weight gives it more requests",
        "upstreams: {web: {origins: ['http://a'], hash-key: address}} | 2:52:"
            + " upstreams.web.hash-key: found \"address\", expected choice: consistent-hash beside"
            + " it",
        "upstreams: {web: {origins: ['http://a'], sticky: {cookie: c}}} | 2:59:"
            + " upstreams.web.sticky.cookie: found \"c\", expected secret-file beside it",
        "upstreams: {web: {origins: ['http://a'], sticky: {secret-file: /etc/os-release}}} | 2:64:"
            + " upstreams.web.sticky.secret-file: found \"/etc/os-release\", expected cookie beside"
            + " it",
        "upstreams: {web: {origins: [{url: 'http://a', backup: on}]}} | 2:55:"
            + " upstreams.web.origins[0].backup: found on at each origin, expected an origin"
            + " without backup",
        "upstreams: {web: {origins: ['http://a'], health: {check: {interval: 1s}}}} | 2:69:"
            + " upstreams.web.health.check.interval: found \"1s\", expected kind: http or"
            + " grpc or tcp beside it",
        "upstreams: {web: {origins: ['http://a'], health: {check: grpc}}} | 2:58:"
            + " upstreams.web.health.check.kind: found \"grpc\", expected http or tcp for http://a,"
            + " which is asked in HTTP/1.1; or protocol: h2c",
        "upstreams: {web: {origins: ['http://a'], health: {check: {kind: http, headers: ['Host: a"
            + " b']}}}} | 2:81: upstreams.web.health.check.headers[0]: found \"Host: a b\","
            + " expected NAME: VALUE without a comma, not User-Agent or a field that frames;"
            + " HOST[:PORT] for Host",
        "upstreams: {web: {origins: ['http://a'], health: {check: {kind: tcp, path: /a}}}} | 2:76:"
            + " upstreams.web.health.check.path: found \"/a\", expected kind: http beside it",
        "upstreams: {web: {origins: ['http://a'], protocol: h2}} | 2:29:"
            + " upstreams.web.origins[0].url: found \"http://a\", expected https:// beside protocol"
            + " h2; HTTP/2 in clear text is h2c",
        "upstreams: {web: {origins: ['https://a'], protocol: h2c}} | 2:29:"
            + " upstreams.web.origins[0].url: found \"https://a\", expected http:// beside protocol"
            + " h2c; HTTP/2 over TLS is h2",
        "upstreams: {web: {origins: ['https://a'], protocol: h2, proxy-protocol: v2}} | 2:73:"
            + " upstreams.web.proxy-protocol: found \"v2\", expected off beside protocol h2 and"
            + " h2c, whose connections are shared among clients",
        "upstreams: {web: {origins: ['http://a'], tls: {name: a}}} | 2:47: upstreams.web.tls: found"
            + " no https:// origin beside it, expected one, or no tls",
        "upstreams: {web: {origins: ['https://a'], tls: {certificate: c.pem}}} | 2:62:"
            + " upstreams.web.tls.certificate: found \"c.pem\", expected a key beside it",
        "upstreams: {web: {origins: ['https://a'], tls: {key: c.key}}} | 2:54:"
            + " upstreams.web.tls.key: found \"c.key\", expected a certificate beside it",
        "upstreams: {web: {origins: ['https://a'], tls: {ca: /no/ca.pem}}} | 2:53:"
            + " upstreams.web.tls.ca: found \"/no/ca.pem\", expected a file that can be used"
            + " (/no/ca.pem: no file of this name)",
        "upstreams: {web: {origins: ['https://a'], tls: {ca: a.pem, verify: off}}} | 2:53:"
            + " upstreams.web.tls.ca: found \"a.pem\", expected no file where verify is off",
        "upstreams: {web: {origins: ['https://a'], tls: {certificate: /no/c, key: /no/k}}} | 2:74:"
            + " upstreams.web.tls.key: found \"/no/k\", expected a file that can be used (/no/c: no"
            + " file of this name)",
        "upstreams: {web: {origins: ['https://a'], tls: {name: 'a:443'}}} | 2:55:"
            + " upstreams.web.tls.name: found \"a:443\", expected a host such as origin.example.org"
      })
  void settingsThatContradictEachOtherAreRefused(String change, String expected) {
    String key = change.substring(0, change.indexOf(':') + 1);
    String text =
        LEAST.contains(key) ? LEAST.replaceAll("(?m)^" + key + ".*$", change) : LEAST + change;
    assertThat(refused(text)).containsExactly("kamille.yaml:" + expected);
  }

  @Test
  void aCookieThatBringsAClientBackIsNotStored() {
    String upstream =
        "upstreams: {web: {origins: ['http://a'], sticky: {cookie: c, secret-file:"
            + " /etc/os-release}}}";
    String text =
        LEAST.replaceAll("(?m)^upstreams:.*$", upstream) + "cache: {store-set-cookie: on}\n";
    assertThat(refused(text))
        .containsExactly(
            "kamille.yaml:2:59: upstreams.web.sticky.cookie: found \"c\", expected"
                + " cache.store-set-cookie: off beside it, or cache: off in routes[0]");
    accepted(text.replaceAll("(?m)^routes:.*$", "routes: [{upstream: web, cache: off}]"));
    accepted(text.replace("store-set-cookie: on", "store-set-cookie: off"));
  }

  @Test
  void whatIsWrongWithOneRouteHidesNothingOfAnother() {
    String routes =
        "routes: [{respond: {status: 99, body: x}}, {path: /a, respond: {body: x}},"
            + " {path: /b, upstream: web, root: /}, {path: /c}, {path: /d, upstreem: web}]";
    assertThat(refused(LEAST.replaceAll("(?m)^routes:.*$", routes)))
        .extracting(line -> line.substring(line.indexOf(" routes") + 1))
        .containsExactly(
            "routes[0].respond.status: found \"99\", expected a whole number of 200–599",
            "routes[1]: found no answer, expected one of upstream, root, redirect and respond",
            "routes[1].respond.body: found \"x\", expected status beside it",
            "routes[2]: found upstream and root, expected one of upstream, root, redirect and"
                + " respond",
            "routes[3]: found no answer, expected one of upstream, root, redirect and respond",
            "routes[4].upstreem: unknown key (did you mean \"upstream\"?)");
  }

  @Test
  void listenersOnFreePortsDoNotContradictEachOther() {
    accepted(LEAST.replace("\"127.0.0.1:8080\"", "':0', ':0', '127.0.0.1:1', '127.0.0.2:1'"));
  }

  @Test
  void anEmptyFileIsRefused() {
    assertThat(refused(""))
        .containsExactly("kamille.yaml:1:1: found an empty file, expected settings");
    assertThat(refused("{}"))
        .containsExactly(
            "kamille.yaml:1:1: listeners: found nothing, expected at least one listener",
            "kamille.yaml:1:1: routes: found nothing, expected at least one route");
  }

  @Test
  void aFileThatCannotBeReadIsOneProblem(@TempDir Path directory) {
    Path missing = directory.resolve("kamille.yaml");
    for (Path file : List.of(missing, directory)) {
      var reading = (ConfigurationReading.Refused) ConfigurationFile.read(file);
      assertThat(reading.problems())
          .singleElement()
          .extracting(Problem::kind)
          .isEqualTo(Problem.Mistake.UNREADABLE);
    }
    assertThat(
            ((ConfigurationReading.Refused) ConfigurationFile.read(missing)).problems().getFirst())
        .hasToString(missing + ": found no file of this name, expected a file that can be read");
  }

  @Test
  void aFileIsNamedAsTheOperatorNamedIt(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("k.yaml"), LEAST + "x: 1\n");
    var reading = (ConfigurationReading.Refused) ConfigurationFile.read(file);
    assertThat(reading.problems().getFirst().toString()).startsWith(file + ":4:1: x: unknown key");
  }

  private static Configuration accepted(String text) {
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }

  private static List<String> refused(String text) {
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Refused.class);
    return ((ConfigurationReading.Refused) reading)
        .problems().stream().map(Problem::toString).toList();
  }
}
