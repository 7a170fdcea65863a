package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TcpSampleTest {

  private final ByteBuffer memory =
      ByteBuffer.allocate(2 * TcpSample.LENGTH).order(ByteOrder.nativeOrder());

  @Test
  void whatIsInFlightIsCountedToTheOctet() {
    memory.putInt(16, 1448).putInt(24, 3).putLong(120, 10_000);
    memory.putLong(200, 15_000).putLong(208, 1_000);
    assertThat(sample(0).inFlightBytes()).isEqualTo(4_000);
  }

  @Test
  void aKernelThatCountsNoOctetsIsTakenBySegments() {
    memory.putInt(16, 1448).putInt(24, 3);
    assertThat(sample(0).inFlightBytes()).isEqualTo(3 * 1448);
    assertThat(sample(0).isWhole()).isFalse();
  }

  @Test
  void rowsLieBehindEachOther() {
    memory.putInt(TcpSample.LENGTH + 68, 25_000).put(TcpSample.LENGTH + 7, (byte) 3);
    assertThat(sample(TcpSample.LENGTH).srttMicros()).isEqualTo(25_000);
    assertThat(sample(TcpSample.LENGTH).isAppLimited()).isTrue();
    assertThat(sample(0).isAppLimited()).isFalse();
  }

  @Test
  void countsOfMoreThan31BitsStayPositive() {
    memory.putInt(100, -1).putInt(156, -2);
    assertThat(sample(0).retransmits()).isEqualTo(4_294_967_295L);
    assertThat(sample(0).segmentsOut()).isEqualTo(4_294_967_294L);
  }

  @ParameterizedTest
  @CsvSource({
    "reno, RENO",
    "cubic, CUBIC",
    "bbr, BBR",
    "bbr3, BBR",
    "renovated, OTHER",
    "dctcp, OTHER",
    "'', OTHER"
  })
  void theNameOfACongestionControlMustMatchWhole(String name, CongestionControl expected) {
    ByteBuffer padded = ByteBuffer.allocate(16).put(name.getBytes(StandardCharsets.US_ASCII));
    assertThat(CongestionControl.of(padded.clear())).isEqualTo(expected);
  }

  private TcpSample sample(int offset) {
    return TcpSample.read(memory, offset, 0, CongestionControl.CUBIC);
  }
}
