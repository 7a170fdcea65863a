package io.kamille.core.origin.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrpcHealthTest {

  @Test
  void aRequestIsForTheServerAsAWhole() {
    assertThat(ByteBufUtil.hexDump(GrpcHealth.request())).isEqualTo("0000000000");
  }

  @ParameterizedTest
  @CsvSource({
    "0000000002 0801, ''",
    "0000000002 0802, NOT_SERVING",
    "0000000002 0803, SERVICE_UNKNOWN",
    "0000000000, UNKNOWN",
    "0000000002 0805, serving status 5",
    "0000000009 1a03616263 1001 0801, ''",
    "000000000b 21ffffffffffffffff0801, ''",
    "0100000002 0801, no message of grpc.health.v1",
    "0000000003 0801, no message of grpc.health.v1",
    "00000000, no message of grpc.health.v1",
    "0000000001 08, a malformed message",
    "0000000002 0880, a malformed message",
    "0000000003 1a7f01, a malformed message",
    "0000000001 0b, a malformed message",
  })
  void anAnswerPassesIfItSaysServing(String hex, String trouble) {
    byte[] octets = ByteBufUtil.decodeHexDump(hex.replace(" ", ""));
    assertThat(GrpcHealth.trouble(Unpooled.wrappedBuffer(octets), "0")).isEqualTo(trouble);
  }

  @Test
  void theStatusOfTheCallComesFirst() {
    byte[] serving = ByteBufUtil.decodeHexDump("00000000020801");
    assertThat(GrpcHealth.trouble(Unpooled.wrappedBuffer(serving), "14"))
        .isEqualTo("grpc-status 14");
    assertThat(GrpcHealth.trouble(Unpooled.wrappedBuffer(serving), null))
        .isEqualTo("no grpc-status");
  }

  @Test
  void anyOctetsHaveAVerdict() {
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      byte[] message = new byte[random.nextInt(20)];
      random.nextBytes(message);
      var answer = Unpooled.buffer().writeByte(0).writeInt(message.length).writeBytes(message);
      assertThat(GrpcHealth.trouble(answer, "0")).isNotNull();
    }
  }
}
