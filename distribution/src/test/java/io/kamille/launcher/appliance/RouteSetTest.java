package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.disk.Disk;
import io.kamille.cache.rules.Decision;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.OverloadLaw;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.names.NameLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.launcher.chain.RouteExplainer;
import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What holds for the chain of stations while a configuration is read again. */
class RouteSetTest {

  private static final String CACHE = "cache: {memory: {capacity: 16MiB}}\n";

  private final MetricRegistry registry = new MetricRegistry();
  private final OriginNames names = OriginNames.open(_ -> this::find, registry);
  private final Configuration first =
      UpstreamsTest.configuration(
          "{site: {origins: ['http://a.test']}}",
          "[{upstream: site, access: {deny: ['192.0.2.0/24']}}]\n" + CACHE);
  private final Machine machine =
      new Machine(Disk.ofSystem(), _ -> names, OverloadLaw::new, Machine.HERE.network());
  private final RouteSet routes;

  RouteSetTest() throws IOException {
    routes = new RouteSet(first, registry, new Overload(0, OverloadLaw::new), machine);
  }

  @AfterEach
  void close() {
    routes.close();
    routes.closeCache();
  }

  @Test
  void aReloadThatFailsHalfWayLeavesAllAsItWas() {
    int parts = registry.parts();
    RouteExplainer explainer = routes.explainer();
    var origins = routes.origins();
    Configuration failing =
        UpstreamsTest.configuration(
            "{site: {origins: ['http://a.test', 'http://b.test']},"
                + " more: {origins: ['http://c.test']}, bad: {origins: ['http://bad.test']}}",
            "[{upstream: site}, {upstream: more, path: /c}, {upstream: bad, path: /bad}]\n"
                + CACHE);
    assertThatThrownBy(() -> routes.prepare(failing)).isInstanceOf(OutOfMemoryError.class);
    assertThat(registry.parts()).isEqualTo(parts);
    assertThat(names.watched()).isEqualTo(origins.values().stream().mapToInt(List::size).sum());
    assertThat(routes.explainer()).isEqualTo(explainer);
    assertThat(routes.origins()).isEqualTo(origins);
  }

  @Test
  void routesAreExplainedWithTheAccessListsOfTheirOwnConfiguration() throws Exception {
    Configuration second =
        UpstreamsTest.configuration(
            "{site: {origins: ['http://a.test']}}",
            "[{upstream: site}, {upstream: site, path: /a, access: {deny: ['192.0.2.0/24']}}]\n"
                + CACHE);
    var over = new AtomicBoolean();
    CompletableFuture<Void> reloads =
        CompletableFuture.runAsync(
            () -> {
              try {
                for (int i = 0; i < 100; i++) {
                  routes.prepare(second).apply();
                  routes.prepare(first).apply();
                }
              } finally {
                over.set(true);
              }
            });
    InetAddress denied = InetAddress.getByName("192.0.2.7");
    RequestHead request = RequestHead.of("GET", "http://h/a");
    do {
      assertThat(routes.explainer().explain(request, denied).explanation().decision())
          .isEqualTo(Decision.REFUSE);
    } while (!over.get());
    reloads.get(60, TimeUnit.SECONDS);
  }

  private CompletableFuture<NameLookup.Answer> find(String host) {
    if (host.equals("bad.test")) {
      return new CompletableFuture<>() {
        @Override
        public <T> CompletableFuture<T> handle(
            BiFunction<? super NameLookup.Answer, Throwable, ? extends T> taken) {
          throw new OutOfMemoryError("for this test");
        }
      };
    }
    return CompletableFuture.completedFuture(
        new NameLookup.Answer(List.of(InetAddress.getLoopbackAddress()), Duration.ofSeconds(30)));
  }
}
