package io.kamille.launcher.fuzz;

import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Machine;
import io.kamille.launcher.appliance.StartFailure;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.service.Inheritance;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A whole appliance on one loop, before an origin. */
final class FuzzedAppliance {

  private static final String CONFIGURATION =
      """
      listeners: [{address: '127.0.0.1:0', %LISTENER%}]
      loops: 1
      upstreams: {site: {origins: ['%ORIGIN%'], retries: 0}}
      routes: [{upstream: site}]
      cache: {memory: {capacity: 16MiB}}
      log: {level: error}
      admin: {address: off}
      limits: {half-closed: on}
      """;

  private FuzzedAppliance() {}

  /** Starts one whose listener has these settings. */
  static Appliance start(String listener, String originUrl) {
    String yaml = CONFIGURATION.replace("%LISTENER%", listener).replace("%ORIGIN%", originUrl);
    byte[] octets = yaml.getBytes(StandardCharsets.UTF_8);
    if (!(ConfigurationFile.parse("fuzz.yaml", octets)
        instanceof ConfigurationReading.Accepted(var configuration))) {
      throw new AssertionError(yaml);
    }
    try {
      return Appliance.start(
          configuration, "fuzz", Inheritance.none(), _ -> List.of(), Machine.HERE);
    } catch (StartFailure failure) {
      throw new AssertionError(failure);
    }
  }

  static InetSocketAddress address(Appliance appliance) {
    String text = appliance.listening().getFirst();
    int port = Integer.parseInt(text.substring(text.lastIndexOf(':') + 1));
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
