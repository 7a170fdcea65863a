package io.kamille.perf.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel holds to send for the connections of one port, looked at twice a second. Any
 * thread.
 */
public final class SendMemory implements AutoCloseable {

  /*
   * ss -tmn: "skmem:(r0,rb131072,t0,tb2626560,f1834,w9216,o0,bl0,d0)"; w is what is queued, with
   * what the kernel needs beside it, f what is set aside for it. Without a state, ss shows
   * connections, too, that a server before had closed and whose clients are gone.
   */
  private static final Pattern QUEUED = Pattern.compile("skmem:\\([^)]*,f(\\d+),w(\\d+)");
  private static final long LOOK_MILLIS = 500;

  private final List<String> command;
  private final Duration settling;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final Thread thread = new Thread(this::watch, "send-memory");
  private long sum;
  private int looks;

  private SendMemory(List<String> command, Duration settling) {
    this.command = command;
    this.settling = settling;
  }

  /**
   * Begins to look.
   *
   * @param within the words that start a command where the server is; itself if there are none
   * @param settling time that passes before the first look
   */
  public static SendMemory watch(List<String> within, int port, Duration settling) {
    var words = new ArrayList<>(within);
    words.addAll(List.of("ss", "-tmnH", "state", "established", "sport", "=", ":" + port));
    var memory = new SendMemory(words, settling);
    memory.thread.start();
    return memory;
  }

  private void watch() {
    try {
      Thread.sleep(settling);
      while (!isOver.get()) {
        look(now());
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private synchronized void look(long bytes) {
    sum += bytes;
    looks++;
  }

  private long now() throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    return parse(process.inputReader().readAllAsString());
  }

  /** Adds up what each connection holds. */
  static long parse(String text) {
    long bytes = 0;
    Matcher queued = QUEUED.matcher(text);
    while (queued.find()) {
      bytes += Long.parseLong(queued.group(1)) + Long.parseLong(queued.group(2));
    }
    return bytes;
  }

  /** The mean of all looks. */
  public synchronized double meanBytes() {
    return looks == 0 ? 0 : (double) sum / looks;
  }

  @Override
  public void close() {
    isOver.set(true);
    thread.interrupt();
  }
}
