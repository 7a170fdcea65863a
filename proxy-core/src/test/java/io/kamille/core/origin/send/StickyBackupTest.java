package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.StickySettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StickyBackupTest {

  private static final int FIRST = 0;
  private static final int BACKUP = 1;
  private static final UpstreamSettings DEFAULTS = UpstreamSettings.DEFAULTS;
  private static final HealthPolicy POLICY = HealthPolicy.DEFAULTS;
  private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 40000);

  @TempDir private Path directory = Path.of("");

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final MetricRegistry registry = new MetricRegistry();

  /** Never runs: to choose opens nothing. */
  private final EventLoop loop = new DefaultEventLoop();

  private final List<Origin> origins = List.of(origin(9000, false), origin(9001, true));

  private static Origin origin(int port, boolean isBackup) {
    OriginUrl url = new OriginUrl(false, "127.0.0.1", port);
    return new Origin(url, 1, isBackup, new OriginHealth(POLICY, () -> 0));
  }

  @AfterEach
  void close() {
    loop.shutdownGracefully();
  }

  @Test
  void aCookieOfABackupHoldsOnlyWhileNoOtherOriginIsIn() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "sixteen octets and more");
    StickyCookie sticky =
        Objects.requireNonNull(
            StickyCookie.of(
                Sections.of(StickySettings.SECTION, "{cookie: at, secret-file: %s}", secret),
                null,
                origins));
    var metrics = new UpstreamMetrics(registry, "test", origins);
    var shard =
        new UpstreamShard(
            DEFAULTS,
            new OriginSet(origins, null, sticky),
            loop,
            LoopGroup.sockets(),
            clock,
            new Spool(1 << 20, registry),
            metrics.counters(loop, origins),
            null);
    RequestHead request = RequestHead.of("GET", "http://example.org/", "Cookie", cookie(sticky));
    Exchange exchange = exchange(request);

    assertThat(shard.choose(exchange)).as("both are in").isEqualTo(FIRST);
    for (int i = 0; i < POLICY.failuresUntilOut(); i++) {
      origins.get(FIRST).health().failed(false, clock.nanos());
    }
    assertThat(shard.choose(exchange)).as("the first is out").isEqualTo(BACKUP);
    clock.advance(POLICY.outFor());
    assertThat(shard.choose(exchange)).as("the probe").isEqualTo(FIRST);
    assertThat(shard.choose(exchange)).as("the probe is under way").isEqualTo(BACKUP);
    origins.get(FIRST).health().answered(200, clock.nanos());
    assertThat(shard.choose(exchange)).as("the first is in again").isEqualTo(FIRST);
  }

  private String cookie(StickyCookie sticky) {
    Exchange exchange = exchange(RequestHead.of("GET", "http://example.org/"));
    ResponseHead head = ResponseHead.of(200);
    sticky.reply(exchange, () -> BACKUP).head(head, 0);
    String line = String.valueOf(head.fields().first(FieldName.SET_COOKIE));
    return line.substring(0, line.indexOf(';'));
  }

  private Exchange exchange(RequestHead request) {
    return new Exchange(loop, ADDRESS, ADDRESS, request, RequestContent.NONE, new RecordingReply());
  }
}
