package io.kamille.launcher.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class CalibratorIT {

  private static Configuration configuration(int originPort) {
    String text =
        """
        listeners: ['127.0.0.1:0']
        loops: 1
        upstreams: {a: {origins: ['http://127.0.0.1:%ORIGIN%']}}
        routes: [{upstream: a}]
        cache: {memory: {capacity: 8MiB}}
        log: {access: {enabled: off}}
        admin: {address: off}
        """
            .replace("%ORIGIN%", Integer.toString(originPort));
    var reading = ConfigurationFile.parse("test", text.getBytes(StandardCharsets.UTF_8));
    return ((ConfigurationReading.Accepted) reading).configuration();
  }

  @Test
  void hitsAndMissesOfBothSizesAreMeasured() throws Exception {
    try (var origin = CalibrationOrigin.start();
        var appliance = Appliance.start(configuration(origin.port()), "test")) {
      String address = appliance.listening().getFirst();
      int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
      var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      var told = new ArrayList<String>();
      var calibrator = new Calibrator(server, appliance::totals, Duration.ofMillis(200), told::add);
      Calibration measured = calibrator.measure("test");
      assertThat(told)
          .containsExactly(
              "hits of 1 KiB", "hits of 256 KiB", "misses of 1 KiB", "misses of 256 KiB");
      assertThat(measured.machine()).isEqualTo(Calibration.thisMachine());
      assertThat(measured.hit().small().least()).isPositive();
      assertThat(measured.miss().large().least()).isPositive();
    }
  }
}
