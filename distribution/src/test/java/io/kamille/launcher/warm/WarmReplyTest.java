package io.kamille.launcher.warm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a warm-up takes of a response, and what it lets go of. */
class WarmReplyTest {

  private int ended;
  private final List<Failure> cancelled = new ArrayList<>();
  private final ContentSource source =
      new ContentSource() {
        @Override
        public void pause() {}

        @Override
        public void resume() {}

        @Override
        public void cancel(Failure why) {
          cancelled.add(why);
        }
      };

  private static ByteBuf chunk(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  @Test
  void contentBeyondItsLimitEndsIt() {
    WarmReply reply = new WarmReply(4, () -> ended++);
    reply.open(source);
    reply.head(ResponseHead.of(200), -1);
    reply.write(chunk("abc"));
    reply.write(chunk("de"));
    assertThat(cancelled).hasSize(1);
    assertThat(reply.failure()).isEqualTo("it has more than 4 octets");
    ByteBuf late = chunk("late");
    reply.write(late);
    reply.end(null);
    assertThat(late.refCnt()).isZero();
    assertThat(ended).isEqualTo(1);
  }

  @Test
  void contentThatNobodyReadsIsReleasedAndHasNoLimit() {
    WarmReply reply = new WarmReply(0, () -> ended++);
    reply.head(ResponseHead.of(200), -1);
    ByteBuf chunk = chunk("abc");
    reply.write(chunk);
    reply.end(null);
    assertThat(chunk.refCnt()).isZero();
    assertThat(reply.failure()).isEmpty();
  }

  @Test
  void whoComesAfterTheEndIsCancelled() {
    WarmReply reply = new WarmReply(0, () -> ended++);
    reply.giveUp("too late");
    reply.open(source);
    assertThat(cancelled).hasSize(1);
    assertThat(reply.isEnded()).isTrue();
    assertThat(ended).isEqualTo(1);
  }

  @Test
  void aStoredResponseGivesItsContentAlone() {
    WarmReply reply = new WarmReply(10, () -> ended++);
    reply.stored(200, new byte[0], 0, chunk("A: b\r\n\r\nhello"), 5);
    assertThat(reply.content()).isEqualTo("hello");
  }

  @Test
  void aSitemapHasTheTextOfItsLocationsAlone() {
    String map =
        "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><urlset><url><loc>\n"
            + "http://h/?a&amp;b=&apos;</loc><lastmod>2026</lastmod></url>"
            + "<url><loc><![CDATA[http://h/c]]></loc></url><url><loc>&e;</loc></url></urlset>";
    assertThat(Sitemap.isIndex(map)).isFalse();
    assertThat(Sitemap.urls(map, 3)).containsExactly("http://h/?a&b='", "http://h/c", "&e;");
    assertThat(Sitemap.urls(map, 1)).hasSize(1);
  }
}
