package io.kamille.launcher.appliance;

import io.kamille.core.origin.UpstreamSettings;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteSettings;

/** How upstreams treat their origins under a configuration. Stateless; any thread. */
final class ForwardingPolicy {

  private ForwardingPolicy() {}

  /** What holds of an upstream when it is asked by that route. */
  static UpstreamSettings of(String upstream, RouteSettings route, Configuration configuration) {
    UpstreamSettings settings = configuration.upstream(upstream).settings();
    var limits = configuration.limits();
    return settings.with(
        settings.connection().within(limits.connection().tunnelTimeout(), limits.responseHead()),
        configuration.forwarding().ofRoute(route.hostRewrite(), route.upgrades()));
  }
}
