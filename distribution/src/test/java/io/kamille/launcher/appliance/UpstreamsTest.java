package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.names.NameLookup;
import io.kamille.core.origin.names.OriginList.NamedBy;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.setting.Sections;
import io.kamille.launcher.appliance.OriginsByApi.Registering;
import io.kamille.launcher.appliance.UpstreamSnapshot.OriginSnapshot;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of an upstream goes on under the next configuration. */
class UpstreamsTest {

  private static final String TWO = "origins: ['http://a.test', 'http://b.test']";

  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.7", 40000);

  @TempDir private Path directory;
  private final LoopGroup loops = new LoopGroup(1);
  private final List<String> lookedUp = new CopyOnWriteArrayList<>();
  private final MetricRegistry registry = new MetricRegistry();
  private final OriginNames names = OriginNames.open(_ -> new Lookup(), registry);
  private final Upstreams upstreams =
      new Upstreams(names, LoopGroup.sockets(), registry, new Clock(), null, Spool.Disk.NONE);
  private final OriginsByApi byApi = new OriginsByApi(upstreams);
  private List<NameLookup.Service> services = List.of();
  private boolean isResolverDown;
  // Volatile: set by the test, read by whoever looks.
  private volatile CompletableFuture<?> mayAnswer = CompletableFuture.completedFuture(null);
  // Volatile: set by the test, read by whoever looks.
  private volatile boolean isOutOfMemory;

  @AfterEach
  void close() {
    upstreams.close();
    names.close();
    loops.close();
  }

  @Test
  void whatHasNotChangedGoesOnWhole() {
    ExchangeHandler handler = reload(TWO);
    List<Origin> origins = origins();
    assertThat(reload(TWO)).isSameAs(handler);
    assertThat(origins()).isEqualTo(origins);
    assertThat(lookedUp).containsExactly("a.test", "b.test");
  }

  @Test
  void anotherRouteOrAnotherUpstreamChangesNothingForThisOne() {
    ExchangeHandler handler = reload(TWO);
    Begun next =
        begin(
            "{site: {" + TWO + "}, other: {origins: ['http://c.test']}}",
            "[{upstream: site}, {upstream: other, path: /c}]");
    assertThat(next.handler(0)).isSameAs(handler);
  }

  @Test
  void underOtherSettingsTheOriginsGoOnBehindAnotherHandler() {
    ExchangeHandler handler = reload(TWO);
    List<Origin> origins = origins();
    assertThat(reload(TWO + ", head-timeout: 7s")).isNotSameAs(handler);
    assertThat(origins()).isEqualTo(origins);
    assertThat(lookedUp).hasSize(2);
  }

  @Test
  void anOriginThatIsAmongOthersNowGoesOn() {
    reload(TWO);
    Origin b = origins().getLast();
    reload("origins: ['http://c.test', 'http://b.test']");
    assertThat(origins()).element(1).isSameAs(b);
    assertThat(lookedUp).containsExactly("a.test", "b.test", "c.test");
  }

  @Test
  void anOriginOfAnotherWeightKeepsItsAddressesEvenIfItsNameCannotBeLookedUpNow() {
    reload("origins: ['http://a.test']");
    isResolverDown = true;
    reload("origins: [{url: 'http://a.test', weight: 5}]");
    assertThat(origins().getFirst().weight()).isEqualTo(5);
    assertThat(origins().getFirst().address()).isNotNull();
  }

  @Test
  void routesThatWriteDifferentHostsShareOrigins() {
    Begun next =
        begin(
            "{site: {" + TWO + "}}",
            "[{upstream: site}, {upstream: site, path: /a, host-rewrite: a.test},"
                + " {upstream: site, path: /b, host-rewrite: a.test}]");
    ExchangeHandler first = next.handler(0);
    ExchangeHandler second = next.handler(1);
    assertThat(second).isNotSameAs(first);
    assertThat(next.handler(2)).isSameAs(second);
    next.next().putInForce();
    assertThat(lookedUp).hasSize(2);
  }

  @Test
  void aRequestThatComesBeforeItsUpstreamIsInForceIsCounted() throws Exception {
    reload("origins: ['http://a.test']");
    isResolverDown = true;
    Begun next = begin("{site: {origins: ['http://c.test'], retries: 0}}", "[{upstream: site}]");
    ExchangeHandler handler = next.handler(0);
    failing(handler);
    next.next().putInForce();
    failing(handler);
    assertThat(requests()).isEqualTo(Map.of("c.test:80", 2.0));
  }

  @Test
  void whatBecomesKnownOfAnOriginDuringAReloadHoldsAfterIt() throws Exception {
    isResolverDown = true;
    ExchangeHandler handler = reload("origins: ['http://a.test']");
    Origin before = origins().getFirst();
    Begun next =
        begin(
            "{site: {origins: [{url: 'http://a.test', weight: 5}], health: {out-for: 7s}}}",
            "[{upstream: site}]");
    next.handler(0);
    for (int i = 0; i < 3; i++) {
      failing(handler);
    }
    next.next().putInForce();
    assertThat(origins().getFirst()).isNotSameAs(before);
    assertThat(origins().getFirst().health().isIn()).isFalse();
  }

  @Test
  void whatIsAbandonedLeavesNothing() {
    ExchangeHandler handler = reload(TWO);
    int parts = registry.parts();
    List<Origin> origins = origins();
    Begun next =
        begin(
            "{site: {" + TWO + ", retries: 0}, other: {origins: ['http://c.test']}}",
            "[{upstream: site}, {upstream: other, path: /c}]");
    next.handler(0);
    next.handler(1);
    next.next().abandon();
    assertThat(registry.parts()).isEqualTo(parts);
    assertThat(origins()).isEqualTo(origins);
    assertThat(reload(TWO)).isSameAs(handler);
  }

  @Test
  void nothingIsLeftOfAnUpstreamThatNoRouteNamesAnyMore() {
    reload(TWO);
    int parts = registry.parts();
    for (int i = 0; i < 100; i++) {
      String name = "u" + i;
      Begun next = begin("{" + name + ": {" + TWO + "}}", "[{upstream: " + name + "}]");
      next.handler(0);
      next.next().putInForce();
      assertThat(registry.parts()).isEqualTo(parts);
      assertThat(upstreams.origins()).containsOnlyKeys(name);
    }
  }

  @Test
  void aFileGivesOtherOriginsToTheSameHandler() throws IOException {
    write("http://b.test");
    ExchangeHandler handler = reload("origins: ['http://a.test'], origins-file: " + file());
    Origin b = origins().getLast();
    assertThat(names()).containsExactly("a.test:80", "b.test:80");
    write("http://c.test", "http://a.test", "http://b.test");
    upstreams.takeIn();
    assertThat(names()).containsExactly("a.test:80", "c.test:80", "b.test:80");
    assertThat(origins()).element(2).isSameAs(b);
    assertThat(lookedUp).containsExactly("a.test", "b.test", "c.test");
    assertThat(reload("origins: ['http://a.test'], origins-file: " + file())).isSameAs(handler);
    write("http://b.test", "garbage");
    upstreams.takeIn();
    assertThat(names()).containsExactly("a.test:80", "c.test:80", "b.test:80");
    UpstreamSnapshot shown = upstreams.snapshots().getFirst();
    assertThat(shown.origins())
        .extracting(OriginSnapshot::from)
        .containsExactly(NamedBy.CONFIGURATION, NamedBy.FILE, NamedBy.FILE);
    assertThat(shown.lists().getFirst().problems()).singleElement().asString().contains("garbage");
  }

  @Test
  void theHostsOfServiceRecordsAreFullNames() {
    services = List.of(new NameLookup.Service(1, 1, "b.test", 80));
    reload("origins: ['http://a.test'], origins-srv: _http._tcp.app.test");
    assertThat(names()).containsExactly("a.test:80", "b.test:80");
    assertThat(lookedUp).containsExactly("a.test", "b.test.");
  }

  @Test
  void aStartWithoutTheFileHasNoOriginUntilItComes() throws Exception {
    ExchangeHandler handler = reload("origins-file: " + file());
    failing(handler);
    assertThat(names()).isEmpty();
    write("https://a.test");
    upstreams.takeIn();
    assertThat(names()).containsExactly("a.test:443");
  }

  @Test
  void aChangeDuringAReloadIsTakenInAfterIt() throws IOException {
    write("http://b.test");
    reload("origins-file: " + file());
    Begun next = begin("{site: {origins-file: " + file() + "}}", "[{upstream: site}]");
    next.handler(0);
    write("http://b.test", "http://c.test");
    upstreams.takeIn();
    assertThat(names()).containsExactly("b.test:80");
    next.next().abandon();
    upstreams.takeIn();
    assertThat(names()).containsExactly("b.test:80", "c.test:80");
  }

  @Test
  void anOriginOfTheApiSurvivesAReloadAndGoesByOrderOrInTime() {
    reload(TWO);
    assertThat(byApi.put("site", origin("http://c.test:81"), 60)).isEqualTo(Registering.DONE);
    assertThat(byApi.put("site", origin("http://d.test"), 60)).isEqualTo(Registering.DONE);
    upstreams.takeIn();
    assertThat(names()).containsExactly("a.test:80", "b.test:80", "c.test:81", "d.test:80");
    OriginSnapshot last = upstreams.snapshots().getFirst().origins().getLast();
    assertThat(last.from()).isEqualTo(NamedBy.API);
    assertThat(last.until()).isNotNull();
    reload("origins: ['http://b.test']");
    assertThat(names()).containsExactly("b.test:80", "c.test:81", "d.test:80");
    assertThat(byApi.end("site", "c.test:81")).isTrue();
    assertThat(byApi.end("site", "b.test:80")).isFalse();
    byApi.put("site", origin("http://d.test"), 0);
    upstreams.takeIn();
    assertThat(names()).containsExactly("b.test:80");
  }

  @Test
  void anAnswerOfTheApiWaitsForANameOnlySoLongAndTheOriginComesLater() {
    reload(TWO);
    mayAnswer = new CompletableFuture<>();
    OriginsByApi hasty = new OriginsByApi(upstreams, Duration.ofMillis(1));
    assertThat(hasty.put("site", origin("http://c.test"), 60)).isEqualTo(Registering.DONE);
    assertThat(origins()).hasSize(2);
    mayAnswer.complete(null);
    Await.until(() -> origins().size() == 3, "the origin is in force");
    assertThat(hasty.end("site", "c.test:80")).isTrue();
    Await.until(() -> origins().size() == 2, "it has ended");
  }

  @Test
  void theApiNamesNoOriginThatIsNamedOrThatCannotBeAsked() {
    reload(TWO + ", protocol: h2c");
    assertThat(byApi.put("none", origin("http://c.test"), 60)).isEqualTo(Registering.UNKNOWN);
    assertThat(byApi.put("site", origin("http://a.test"), 60)).isEqualTo(Registering.NAMED);
    assertThat(byApi.put("site", origin("https://c.test"), 60)).isEqualTo(Registering.UNSUITED);
    reload(TWO);
    assertThat(byApi.put("site", origin("https://c.test"), 60)).isEqualTo(Registering.UNSUITED);
    assertThat(names()).hasSize(2);
  }

  @Test
  void anOriginOfTheApiIsLeftOutWhileTheProtocolDoesNotSuitIt() {
    reload("origins: ['https://a.test']");
    byApi.put("site", origin("http://c.test"), 60);
    assertThat(names()).containsExactly("a.test:443", "c.test:80");
    reload("origins: ['https://a.test'], protocol: h2");
    assertThat(names()).containsExactly("a.test:443");
    reload("origins: ['https://a.test']");
    assertThat(names()).containsExactly("a.test:443", "c.test:80");
  }

  @Test
  void anOriginByTlsThatCameDuringAReloadWithoutTlsHoldsNoOtherUpstreamUp() throws IOException {
    String other = "other: {origins-file: " + file() + "}";
    String routes = "[{upstream: site}, {upstream: other, path: /c}]";
    putInForce(begin("{site: {origins: ['https://a.test']}, " + other + "}", routes));
    Begun next = begin("{site: {origins: ['http://b.test']}, " + other + "}", routes);
    next.handler(0);
    assertThat(byApi.put("site", origin("https://c.test"), 60)).isEqualTo(Registering.DONE);
    putInForce(next);
    write("http://d.test");
    upstreams.takeIn();
    assertThat(names()).containsExactly("b.test:80");
    assertThat(upstreams.origins().get("other")).hasToString("[d.test:80]");
    reload("origins: ['http://b.test']");
    assertThat(names()).containsExactly("b.test:80", "c.test:443");
  }

  private static void putInForce(Begun next) {
    next.handler(0);
    next.handler(1);
    next.next().putInForce();
  }

  @Test
  void anErrorAtOneLookEndsNone() throws Exception {
    reload("origins: ['http://a.test'], origins-file: " + file());
    isOutOfMemory = true;
    write("http://b.test");
    upstreams.refreshLists().get(60, TimeUnit.SECONDS);
    assertThat(names()).containsExactly("a.test:80");
    isOutOfMemory = false;
    upstreams.refreshLists().get(60, TimeUnit.SECONDS);
    assertThat(names()).containsExactly("a.test:80", "b.test:80");
  }

  @Test
  void anotherProcessGoesOnWithOriginsOfTheApi() {
    reload(TWO);
    byApi.put(
        "site",
        Sections.of(OriginSettings.SECTION, "{url: 'http://c.test', weight: 7, backup: on}"),
        60);
    Map<String, String> all = byApi.words();
    assertThat(all).containsOnlyKeys("site http://c.test");
    String words = all.values().iterator().next();
    assertThat(words).startsWith("7 true ");
    byApi.end("site", "c.test:80");
    byApi.take("site http://c.test", words);
    byApi.refresh();
    assertThat(names()).containsExactly("a.test:80", "b.test:80", "c.test:80");
    assertThat(origins().getLast().weight()).isEqualTo(7);
    assertThatThrownBy(() -> byApi.take("site nowhere", words))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static OriginSettings origin(String url) {
    return Sections.of(OriginSettings.SECTION, "url: '%s'", url);
  }

  private Path file() {
    return directory.resolve("origins.yaml");
  }

  private void write(String... urls) throws IOException {
    Files.writeString(file(), "origins:\n- " + String.join("\n- ", urls) + "\n");
  }

  private List<String> names() {
    return origins().stream().map(Origin::name).toList();
  }

  /** The upstreams of a configuration that is about to come into force. */
  private record Begun(Configuration configuration, Upstreams.Next next) {

    ExchangeHandler handler(int route) {
      return next.handler(configuration.routes().get(route));
    }
  }

  private Begun begin(String upstreams, String routes) {
    Configuration configuration = configuration(upstreams, routes);
    return new Begun(configuration, this.upstreams.next(configuration));
  }

  /** Puts the only upstream in force, and gives what forwards to it. */
  private ExchangeHandler reload(String upstream) {
    Begun next = begin("{site: {" + upstream + "}}", "[{upstream: site}]");
    ExchangeHandler handler = next.handler(0);
    next.next().putInForce();
    return handler;
  }

  /** Handles a request for an origin whose name has no address, until the loop has done with it. */
  private void failing(ExchangeHandler handler) throws Exception {
    EventLoop loop = loops.loops().getFirst();
    var reply = new RecordingReply();
    RequestHead head = RequestHead.of("GET", "http://example.org/");
    var exchange = new Exchange(loop, CLIENT, CLIENT, head, RequestContent.NONE, reply);
    loop.execute(() -> handler.handle(exchange));
    assertThat(reply.ended().get(60, TimeUnit.SECONDS).failure()).isNotNull();
    loop.submit(() -> {}).get(60, TimeUnit.SECONDS);
  }

  /** Requests by origin, of all upstreams. */
  private Map<String, Double> requests() {
    return registry.read().stream()
        .filter(family -> family.descriptor().equals(UpstreamMetrics.REQUESTS))
        .flatMap(family -> family.samples().stream())
        .collect(Collectors.toMap(sample -> sample.labelValues().getLast(), Sample::value));
  }

  private List<Origin> origins() {
    return upstreams.origins().getOrDefault("site", List.of());
  }

  /** Each look at the lists asks it. */
  private final class Clock implements WallClock {

    @Override
    public long epochMillis() {
      return WallClock.system().epochMillis();
    }

    @Override
    public long nanos() {
      if (isOutOfMemory) {
        throw new OutOfMemoryError("as the test says");
      }
      return WallClock.system().nanos();
    }
  }

  /** Knows every name; those that it was asked for as full ones have a dot at their end. */
  private final class Lookup implements NameLookup {

    @Override
    public CompletableFuture<Answer> find(String host) {
      if (isResolverDown) {
        return CompletableFuture.failedFuture(new UnknownHostException(host));
      }
      lookedUp.add(host);
      return mayAnswer.thenApply(
          _ -> new Answer(List.of(InetAddress.getLoopbackAddress()), Duration.ofSeconds(30)));
    }

    @Override
    public CompletableFuture<Answer> findFull(String host) {
      return find(host + ".");
    }

    @Override
    public CompletableFuture<Services> services(String name) {
      return CompletableFuture.completedFuture(new Services(services, Duration.ofSeconds(30)));
    }
  }

  static Configuration configuration(String upstreams, String routes) {
    String text =
        "listeners: ['127.0.0.1:0']\nupstreams: " + upstreams + "\nroutes: " + routes + "\n";
    byte[] octets = text.getBytes(StandardCharsets.UTF_8);
    return switch (ConfigurationFile.parse("test.yaml", octets)) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }
}
