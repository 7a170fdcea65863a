package io.kamille.core.client.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.h1.TestServer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

/** What content that nobody takes yet holds. */
class H2ContentTest {

  private static final H2Content.Stream STREAM =
      new H2Content.Stream() {
        @Override
        public ClientSettings settings() {
          return TestServer.SETTINGS;
        }

        @Override
        public long contentLimit() {
          return Long.MAX_VALUE;
        }

        @Override
        public long now() {
          return 0;
        }

        @Override
        public void sendContinue() {}

        @Override
        public void credit(int bytes) {}

        @Override
        public void contentIsMalformed(String reason) {}

        @Override
        public void contentIsTooLarge() {}
      };

  @Test
  void aChunkThatWaitsKeepsNoReadBuffer() {
    H2Content content = new H2Content(STREAM, -1, false);
    for (int bytes : new int[] {1, 1024, 16 * 1024}) {
      ByteBuf read = Unpooled.directBuffer(64 * 1024).writeZero(64 * 1024);
      content.received(read.readRetainedSlice(bytes));
      assertThat(read.refCnt()).as("references after " + bytes + " octets").isEqualTo(1);
      read.release();
    }
    content.dismiss();
  }
}
