package io.kamille.launcher.appliance;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.upstream.HealthPolicy;
import io.kamille.core.upstream.OriginChoice;
import io.kamille.core.upstream.UpstreamSettings;
import io.kamille.core.upstream.h1.ConnectionSettings;
import io.kamille.core.upstream.h1.ForwardingSettings;
import io.kamille.core.upstream.pool.PoolSettings;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.HealthSettings;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.UpstreamSettings.Concurrency;
import org.jspecify.annotations.Nullable;

/** What the configuration says of upstreams, as core takes it. Stateless; any thread. */
final class ForwardingPolicy {

  private ForwardingPolicy() {}

  /** How the upstream of a route treats its origins when it is asked by that route. */
  static UpstreamSettings of(RouteSettings route, Configuration configuration) {
    var settings = named(route.upstream(), configuration);
    var limits = configuration.limits();
    return new UpstreamSettings(
        switch (settings.choice()) {
          case POWER_OF_TWO -> OriginChoice.Kind.POWER_OF_TWO;
          case ROUND_ROBIN -> OriginChoice.Kind.ROUND_ROBIN;
        },
        settings.connectTimeout(),
        settings.retries(),
        health(settings.health()),
        settings.concurrency() == Concurrency.ADAPTIVE,
        new PoolSettings(
            settings.maxConnections(),
            settings.maxWaiting(),
            settings.queueTimeout(),
            settings.maxIdleConnections(),
            settings.idleTimeout()),
        new ConnectionSettings(
            settings.headTimeout(),
            settings.contentTimeout(),
            limits.tunnelTimeout(),
            ConnectionSettings.DEFAULTS.continueTimeout(),
            ConnectionSettings.DEFAULTS.receiveBufferBytes(),
            new HeadLimits(0, limits.responseFields(), limits.responseHeadBytes())),
        forwarding(configuration, route.hostRewrite()));
  }

  private static HealthPolicy health(HealthSettings settings) {
    return new HealthPolicy(
        settings.failures(),
        settings.failureRatio().orElse(Double.MAX_VALUE),
        settings.outFor(),
        settings.longestOut(),
        settings.slowReturn());
  }

  private static ForwardingSettings forwarding(
      Configuration configuration, @Nullable String hostRewrite) {
    var settings = configuration.forwarding();
    ForwardingSettings.Mode xForwarded = mode(settings.xForwarded());
    ForwardingSettings.Mode forwarded = mode(settings.forwarded());
    if (forwarded == ForwardingSettings.Mode.PASS && xForwarded != ForwardingSettings.Mode.PASS) {
      // Two fields that contradict each other would leave the choice to the origin, or the client.
      forwarded = ForwardingSettings.Mode.REMOVE;
    }
    return new ForwardingSettings(
        xForwarded, forwarded, hostRewrite, settings.via(), settings.removedFields());
  }

  private static ForwardingSettings.Mode mode(
      io.kamille.launcher.configuration.ForwardingSettings.Mode mode) {
    return switch (mode) {
      case ON -> ForwardingSettings.Mode.REPLACE;
      case OFF -> ForwardingSettings.Mode.PASS;
      case APPEND -> ForwardingSettings.Mode.APPEND;
    };
  }

  /** The upstream of that name, which there is. */
  static io.kamille.launcher.configuration.UpstreamSettings named(
      String upstream, Configuration configuration) {
    return configuration.upstreams().stream()
        .filter(settings -> settings.name().equals(upstream))
        .findFirst()
        .orElseThrow();
  }
}
