package io.kamille.perf.lab;

import io.kamille.perf.wan.ForeignSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decides on a server's send buffers from outside, at each look. Confined.
 *
 * @param within the words that start a command where the server is
 * @param trace of what each is allowed
 */
record SendBufferSplit(
    List<String> within, int port, BufferWay way, long budgetBytes, AllocationTrace trace) {

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
  private static final int WINDOWS = 2;

  /** A connection as ss shows it. */
  record Connection(String client, long pid, int descriptor, long windowBytes) {}

  /** Bounds newcomers. */
  SendBufferSplit begin() {
    Matcher found = LISTENER.matcher(connections("listening"));
    while (found.find()) {
      tell(Long.parseLong(found.group(1)), Integer.parseInt(found.group(2)), LEAST_BYTES);
    }
    return this;
  }

  private static boolean tell(long pid, int descriptor, long bytes) {
    try (var sockets = new ForeignSockets(pid)) {
      return sockets.sendBuffer(descriptor, (int) bytes);
    } catch (IOException gone) {
      return false;
    }
  }

  private String connections(String state) {
    var command = new ArrayList<>(within);
    command.addAll(List.of("ss", "-tinpHO", "state", state, "sport", "=", ":" + port));
    try {
      Process ss = new ProcessBuilder(command).redirectErrorStream(true).start();
      return ss.inputReader().readAllAsString();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Tells each connection its part. */
  void sample() {
    List<Connection> connections = parse(connections("established"));
    long[] demands = connections.stream().mapToLong(this::demand).toArray();
    long[] parts = share(demands, budgetBytes);
    double seconds = trace.seconds();
    trace.addDemand(seconds, Arrays.stream(demands).sum());
    for (int i = 0; i < parts.length; i++) {
      Connection one = connections.get(i);
      if (tell(one.pid(), one.descriptor(), parts[i])) {
        trace.add(seconds, one.client(), parts[i]);
      }
    }
  }

  private long demand(Connection one) {
    return way == BufferWay.WINDOW ? WINDOWS * one.windowBytes() : 0;
  }

  static List<Connection> parse(String text) {
    return LINE.matcher(text).results().map(SendBufferSplit::connection).toList();
  }

  private static Connection connection(MatchResult found) {
    return new Connection(
        found.group(1),
        Long.parseLong(found.group(2)),
        Integer.parseInt(found.group(3)),
        Long.parseLong(found.group(4)) * Long.parseLong(found.group(5)));
  }

  /** Max-min fair parts; what is left when all have what they want goes to all equally. */
  static long[] share(long[] demands, long budget) {
    long[] ascending = demands.clone();
    Arrays.sort(ascending);
    long left = budget;
    long most = 0;
    for (int i = 0; i < ascending.length; i++) {
      most = left / (ascending.length - i);
      left -= Math.min(ascending[i], most);
    }
    long granted = most;
    long more = left / Math.max(1, demands.length);
    return Arrays.stream(demands).map(demand -> Math.min(demand, granted) + more).toArray();
  }
}
