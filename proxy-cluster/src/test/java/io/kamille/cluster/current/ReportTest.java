package io.kamille.cluster.current;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReportTest {

  private static final Report REPORT =
      new Report(
          1,
          41,
          Map.of("a", 7L, "b", 8L),
          12,
          9,
          5,
          6,
          "digest",
          true,
          false,
          3_000,
          "10.0.0.1:7801",
          "1.2.3");

  @Test
  void whatIsWrittenIsRead() throws IOException {
    assertThat(Report.of(REPORT.octets())).isEqualTo(REPORT);
  }

  @Test
  void whatALaterReleaseAddsIsPassedOver() throws IOException {
    byte[] longer = Arrays.copyOf(REPORT.octets(), REPORT.octets().length + 9);
    assertThat(Report.of(longer)).isEqualTo(REPORT);
  }

  @Test
  void aPartOfOneIsNone() {
    byte[] octets = REPORT.octets();
    for (int length = 0; length < octets.length; length++) {
      byte[] part = Arrays.copyOf(octets, length);
      assertThatThrownBy(() -> Report.of(part)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void manyNodesAreRefusedBeforeTheyCostMemory() {
    for (int nodes : new int[] {-1, 1_001, Integer.MAX_VALUE}) {
      byte[] octets = ByteBuffer.allocate(1_000).putInt(1).putLong(1).putInt(nodes).array();
      assertThatThrownBy(() -> Report.of(octets)).hasMessageContaining("report about " + nodes);
    }
  }

  @Test
  void spoiledOctetsAreAReportOrAnException() {
    Random random = new Random(20261128);
    for (int i = 0; i < 20_000; i++) {
      byte[] octets = REPORT.octets();
      octets[random.nextInt(octets.length)] = (byte) random.nextInt();
      octets[random.nextInt(octets.length)] = (byte) random.nextInt();
      try {
        assertThat(Report.of(octets)).isNotNull();
      } catch (IOException refused) {
        assertThat(refused).isNotNull();
      }
    }
  }
}
