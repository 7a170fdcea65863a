package io.kamille.perf.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel holds to send for the connections of one port, looked at twice a second. Any
 * thread.
 */
public final class SendMemory implements AutoCloseable {

  /*
   * ss -tmn: "skmem:(r0,rb131072,t0,tb2626560,f1834,w9216,o0,bl0,d0)"; w is what is queued, with
   * what the kernel needs beside it, f what is set aside for it, tb its limit, of which half is
   * content. Without a state, ss shows
   * connections, too, that a server before had closed and whose clients are gone.
   */
  private static final Pattern QUEUED = Pattern.compile("skmem:\\([^)]*,tb(\\d+),f(\\d+),w(\\d+)");
  private static final long LOOK_MILLIS = 500;

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private long sum;
  private long sizes;
  private int looks;

  private SendMemory() {}

  /**
   * Begins to look.
   *
   * @param within the words that start a command where the server is; itself if there are none
   * @param settling time that passes before the first look
   */
  public static SendMemory watch(List<String> within, int port, Duration settling) {
    var words = new ArrayList<>(within);
    words.addAll(List.of("ss", "-tmnH", "state", "established", "sport", "=", ":" + port));
    var memory = new SendMemory();
    memory.timer.scheduleAtFixedRate(
        () -> memory.sample(words), settling.toMillis(), LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return memory;
  }

  private synchronized void sample(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String text = process.inputReader().readAllAsString();
      sum += parse(text);
      sizes += sizes(text);
      looks++;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Adds up what each connection holds. */
  static long parse(String text) {
    long bytes = 0;
    Matcher queued = QUEUED.matcher(text);
    while (queued.find()) {
      bytes += Long.parseLong(queued.group(2)) + Long.parseLong(queued.group(3));
    }
    return bytes;
  }

  /** Adds up the content that each connection may hold. */
  static long sizes(String text) {
    return QUEUED.matcher(text).results().mapToLong(one -> Long.parseLong(one.group(1)) / 2).sum();
  }

  /** The mean of all looks. */
  public synchronized double meanBytes() {
    return looks == 0 ? 0 : (double) sum / looks;
  }

  /** Content that all together may hold, the mean of all looks. */
  public synchronized double meanSizeBytes() {
    return looks == 0 ? 0 : (double) sizes / looks;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
