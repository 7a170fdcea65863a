package io.kamille.perf.lab;

import io.kamille.perf.wan.ForeignSockets;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Decides on a server's send buffers from outside, once a second. Its own thread. */
final class SendBufferSplit implements AutoCloseable {

  /*
   * The rivals of the paper, which Kamille does not have. With an equal split each connection gets
   * the same part. ATBT (Semke, Mahdavi and Mathis, 1998): each wants twice its congestion window;
   * what small demands leave goes to the others equally.
   *
   * ss tells windows and descriptors; the sockets are copied out of the server (pidfd_getfd) and
   * SO_SNDBUF is set there. The kernel doubles it, and half of that is content. A newcomer begins
   * with the least size, by that of the listening socket: else it fills what the kernel gives it.
   */
  private static final Pattern LINE =
      Pattern.compile(
          " \\[?(?:::ffff:)?([0-9.]+)\\]?:\\d+ +users:\\(\\(\"[^\"]*\",pid=(\\d+),fd=(\\d+)\\)"
              + ".* mss:(\\d+).* cwnd:(\\d+)");
  private static final Pattern LISTENER = Pattern.compile("pid=(\\d+),fd=(\\d+)");
  private static final int LEAST_BYTES = 2304;
  private static final long PERIOD_MILLIS = 1000;
  private static final int WINDOWS = 2;

  /** A connection as ss shows it. */
  record Connection(String client, long pid, int descriptor, long windowBytes) {}

  private final List<String> within;
  private final int port;
  private final BufferWay way;
  private final long budgetBytes;
  private final AllocationTrace trace;
  private final Thread thread;

  /**
   * Begins.
   *
   * @param within the words that start a command where the server is
   */
  SendBufferSplit(
      List<String> within, int port, BufferWay way, long budgetBytes, AllocationTrace trace) {
    this.within = within;
    this.port = port;
    this.way = way;
    this.budgetBytes = budgetBytes;
    this.trace = trace;
    this.thread = Thread.ofPlatform().name("lab-split").start(this::run);
  }

  private void run() {
    try {
      Matcher listener = LISTENER.matcher(connections("listening"));
      while (listener.find()) {
        try (var sockets = new ForeignSockets(Long.parseLong(listener.group(1)))) {
          sockets.sendBuffer(Integer.parseInt(listener.group(2)), LEAST_BYTES);
        }
      }
      while (true) {
        Thread.sleep(PERIOD_MILLIS);
        pass(parse(connections("established")));
      }
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    } catch (IOException failed) {
      System.err.println("lab: " + failed.getMessage());
    }
  }

  private String connections(String state) throws IOException {
    var command = new ArrayList<>(within);
    command.addAll(List.of("ss", "-tinpHO", "state", state, "sport", "=", ":" + port));
    Process ss = new ProcessBuilder(command).redirectErrorStream(true).start();
    return ss.inputReader().readAllAsString();
  }

  private void pass(List<Connection> connections) throws IOException {
    if (connections.isEmpty()) {
      return;
    }
    long[] demands = new long[connections.size()];
    if (way == BufferWay.WINDOW) {
      Arrays.setAll(demands, i -> WINDOWS * connections.get(i).windowBytes());
    }
    long[] parts = share(demands, budgetBytes);
    double seconds = trace.seconds();
    trace.addDemand(seconds, Arrays.stream(demands).sum());
    try (var sockets = new ForeignSockets(connections.getFirst().pid())) {
      for (int i = 0; i < parts.length; i++) {
        if (sockets.sendBuffer(connections.get(i).descriptor(), (int) parts[i])) {
          trace.add(seconds, connections.get(i).client(), parts[i]);
        }
      }
    }
  }

  static List<Connection> parse(String text) {
    var connections = new ArrayList<Connection>();
    Matcher line = LINE.matcher(text);
    while (line.find()) {
      long window = Long.parseLong(line.group(4)) * Long.parseLong(line.group(5));
      connections.add(
          new Connection(
              line.group(1),
              Long.parseLong(line.group(2)),
              Integer.parseInt(line.group(3)),
              window));
    }
    return connections;
  }

  /** Max-min fair parts; what is left when all have what they want goes to all equally. */
  static long[] share(long[] demands, long budget) {
    long[] parts = new long[demands.length];
    List<Integer> bySize =
        IntStream.range(0, demands.length)
            .boxed()
            .sorted(Comparator.comparingLong(i -> demands[i]))
            .toList();
    long left = budget;
    int among = demands.length;
    for (int i : bySize) {
      parts[i] = Math.min(demands[i], left / among--);
      left -= parts[i];
    }
    long more = left / Math.max(1, demands.length);
    return Arrays.stream(parts).map(part -> part + more).toArray();
  }

  @Override
  public void close() {
    end(thread);
  }

  /** Interrupts a thread and waits for its end. */
  static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
