package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.content.QueuePieces;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.metric.MetricRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Content comes out as it went in, or is cut, in whatever order source, sink and disk act. */
class QueuedContentTest {

  @TempDir private Path directory;

  @Test
  void nothingIsLostOrMixedUp() {
    long first = System.nanoTime();
    int ended = 0;
    int cut = 0;
    for (long seed = first; seed < first + 300; seed++) {
      var journey = new Journey(seed);
      journey.run();
      ended += journey.isEnded ? 1 : 0;
      cut += journey.why == null ? 0 : 1;
    }
    assertThat(ended).isPositive();
    assertThat(cut).isPositive();
  }

  /** One content, its source and its sink. Confined to its test. */
  private final class Journey implements RequestContent, ContentSink, UploadBuffer.Owner {

    private final long seed;
    private final Random random;
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<Runnable> disk = new ArrayList<>();
    private final Spool spool;
    private final QueuePieces buffer;
    private final @Nullable UploadBuffer upload;
    private final StringBuilder sent = new StringBuilder();
    private final StringBuilder got = new StringBuilder();
    private final int length;
    private final int mostChunk;
    private final int pushes;
    private final boolean breaks;
    private boolean isReady;
    private boolean isStarted;
    private boolean isSourcePaused;
    private boolean isSourceOver;
    private boolean isSinkPaused;
    private boolean isPushing;
    private boolean isEnded;
    private boolean isDiskGone;
    private @Nullable Failure why;

    Journey(long seed) {
      this.seed = seed;
      random = new Random(seed);
      length = random.nextInt(400_000);
      mostChunk = 20_000 >> random.nextInt(5);
      pushes = 1 + random.nextInt(6);
      breaks = random.nextInt(10) == 0;
      long mostMemory = random.nextInt(3) == 0 ? 0 : random.nextInt(100_000);
      long file = random.nextInt(4) == 0 ? 0 : 64L << 10 << random.nextInt(5);
      spool =
          new Spool(
              mostMemory,
              new Spool.Disk(directory.resolve("spool"), file, file, this::later),
              new MetricRegistry());
      if (random.nextBoolean()) {
        upload = new UploadBuffer(this, channel.eventLoop(), random.nextInt(50_000), spool, this);
        buffer = upload;
      } else {
        upload = null;
        long most = 1L + random.nextInt(200_000);
        buffer = new QueuePieces(this, channel.eventLoop(), most, most, spool);
        isReady = true;
      }
    }

    private void later(Runnable work) {
      if (isDiskGone) {
        throw new RejectedExecutionException();
      }
      disk.add(work);
    }

    void run() {
      boolean losesDisk = random.nextInt(5) == 0;
      if (upload == null) {
        isSinkPaused = true;
        buffer.pause();
        buffer.giveTo(this);
        isStarted = true;
      } else {
        upload.fill();
      }
      for (int i = 0; i < 1_000 && !isOver(); i++) {
        act(random.nextInt(8 + pushes));
        if (losesDisk && random.nextInt(100) == 0) {
          isDiskGone = true;
        }
      }
      for (int i = 0; i < 100_000 && !isOver(); i++) {
        push();
        work();
        begin();
        if (isSinkPaused) {
          isSinkPaused = false;
          buffer.resume();
        }
      }
      work();
      String what = "seed " + seed + ", cut: " + why;
      assertThat(isOver()).as(what).isTrue();
      if (isEnded) {
        assertThat(sent.length()).as(what).isEqualTo(length);
        assertThat(got.toString().equals(sent.toString())).as(what).isTrue();
      } else {
        assertThat(isDiskGone || breaks).as(what).isTrue();
        assertThat(sent.toString().startsWith(got.toString())).as(what).isTrue();
      }
      assertThat(spool.heldBytes()).as(what).isZero();
      assertThat(spool.bytesInFile()).as(what).isZero();
      channel.finishAndReleaseAll();
    }

    private boolean isOver() {
      return isEnded || why != null;
    }

    private void act(int what) {
      switch (what) {
        case 0, 1 -> {
          if (!disk.isEmpty()) {
            disk.remove(random.nextInt(disk.size())).run();
          }
        }
        case 2, 3 -> channel.runPendingTasks();
        case 4 -> begin();
        case 5 -> pauseSink();
        case 6, 7 -> resumeSink();
        default -> push();
      }
    }

    private void pauseSink() {
      if (isStarted) {
        isSinkPaused = true;
        buffer.pause();
      }
    }

    private void resumeSink() {
      if (isStarted) {
        isSinkPaused = false;
        buffer.resume();
      }
    }

    private void begin() {
      if (upload != null && isReady && !isStarted) {
        isStarted = true;
        upload.start(this);
      }
    }

    private void work() {
      while (!disk.isEmpty()) {
        disk.removeFirst().run();
      }
      channel.runPendingTasks();
    }

    /** As a source does that may have one chunk on its way. */
    private void push() {
      if (isSourceOver || isPushing || (isSourcePaused && random.nextInt(8) != 0)) {
        return;
      }
      isPushing = true;
      do {
        int part = Math.min(length - sent.length(), chunkLength());
        if (breaks && random.nextInt(20) == 0) {
          isSourceOver = true;
          buffer.abort(Failure.of(Failure.ErrorType.CLIENT_GONE, "cut"));
        } else if (part > 0) {
          String text = letters(part);
          sent.append(text);
          buffer.write(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        } else if (sent.length() == length) {
          isSourceOver = true;
          buffer.end(null);
        }
      } while (!isSourceOver && !isSourcePaused && random.nextBoolean());
      isPushing = false;
    }

    /** Often one that fills a block. */
    private int chunkLength() {
      int length = random.nextInt(mostChunk);
      return random.nextBoolean() ? length : length / 1024 * 1024;
    }

    private String letters(int count) {
      StringBuilder text = new StringBuilder(count);
      for (int i = 0; i < count; i++) {
        int at = sent.length() + i;
        text.append((char) ('a' + (at + at / 26 + at / 676) % 26));
      }
      return text.toString();
    }

    // The source

    @Override
    public long length() {
      return seed % 2 == 0 ? length : UNKNOWN_LENGTH;
    }

    @Override
    public void start(ContentSink sink) {}

    @Override
    public void tunnel(ContentSink sink) {}

    @Override
    public void pause() {
      assertThat(isSourceOver).isFalse();
      isSourcePaused = true;
    }

    @Override
    public void resume() {
      assertThat(isSourceOver).isFalse();
      isSourcePaused = false;
      if (random.nextBoolean()) {
        push();
      }
    }

    @Override
    public void cancel(Failure reason) {
      isSourceOver = true;
    }

    // The owner

    @Override
    public void contentIsReady() {
      assertThat(isReady).isFalse();
      isReady = true;
      if (random.nextBoolean()) {
        begin();
      }
    }

    @Override
    public void contentBroke(Failure reason) {
      why = reason;
    }

    // The sink

    @Override
    public void write(ByteBuf chunk) {
      assertThat(isOver()).isFalse();
      got.append(chunk.toString(StandardCharsets.US_ASCII));
      chunk.release();
      if (random.nextInt(4) == 0) {
        pauseSink();
      }
      if (random.nextInt(4) == 0) {
        resumeSink();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      assertThat(isOver()).isFalse();
      isEnded = true;
    }

    @Override
    public void abort(Failure reason) {
      assertThat(isOver()).isFalse();
      why = reason;
    }
  }
}
