package io.kamille.core.origin.wire.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeldContentTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 1023, 1024, 4096, 16_384})
  void whatIsHeldKeepsNoBufferOfARead(int frameBytes) {
    var held = new HeldContent();
    StringBuilder sent = new StringBuilder();
    for (int i = 0; i < 5; i++) {
      ByteBuf read = UnpooledByteBufAllocator.DEFAULT.directBuffer(64 * 1024);
      String frame = String.valueOf((char) ('a' + i)).repeat(frameBytes);
      sent.append(frame);
      read.writeCharSequence(frame, StandardCharsets.US_ASCII);
      held.add(read.readRetainedSlice(frameBytes));
      assertThat(read.refCnt()).isOne();
      read.release();
    }
    ByteBuf all = Unpooled.buffer();
    long capacity = 0;
    for (ByteBuf chunk = held.poll(); chunk != null; chunk = held.poll()) {
      capacity += chunk.capacity();
      all.writeBytes(chunk);
      chunk.release();
    }
    assertThat(all.toString(StandardCharsets.US_ASCII)).isEqualTo(sent.toString());
    assertThat(capacity).isLessThanOrEqualTo(sent.length() + 4096);
    assertThat(held.isEmpty()).isTrue();
  }
}
