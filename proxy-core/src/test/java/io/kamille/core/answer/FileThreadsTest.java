package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.ByteRange;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileThreadsTest {

  private static final int MORE_THAN_WAIT = 4 + 4_096;

  private final FileThreads threads = new FileThreads();
  private final DefaultEventLoop loop = new DefaultEventLoop();
  private final CountDownLatch disk = new CountDownLatch(1);

  @TempDir private Path directory = Path.of("");

  @AfterEach
  void close() {
    threads.close();
    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Test
  void behindASlowDiskADownloadWaitsAndNoFileIsOpened() throws Exception {
    for (int i = 0; i < MORE_THAN_WAIT; i++) {
      threads.execute(this::waitForDisk);
    }
    assertThat(threads.isBusy()).isTrue();
    CompletableFuture<Void> isThere = new CompletableFuture<>();
    Queue<ReferenceCounted> window = new ArrayDeque<>();
    var content = new FilePieces(loop, threads);
    content.open(file("content"), new ByteRange(ByteRange.Outcome.WHOLE, 0, 7, 7), false);
    content.whenMore(() -> isThere.complete(null));
    loop.execute(() -> content.next(window));
    disk.countDown();
    isThere.get(10, TimeUnit.SECONDS);
    loop.submit(() -> content.next(window)).get(10, TimeUnit.SECONDS);
    assertThat(window).hasSize(1);
    window.remove().release();
    loop.submit(() -> content.close(null)).get(10, TimeUnit.SECONDS);
  }

  private FileChannel file(String content) throws IOException {
    return FileChannel.open(Files.writeString(directory.resolve("a"), content));
  }

  private void waitForDisk() {
    try {
      disk.await();
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }
}
