package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.launcher.origin.Answer;
import io.kamille.launcher.origin.ScriptedOrigin;
import io.kamille.launcher.origin.ScriptedOrigin.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Three origins in one process: one that fails as it is told, its sound partner, and one of another
 * route. Any thread.
 *
 * <p>Each answers any request with 1 KiB that must not be stored. The last one also takes orders:
 * {@code /control/hang} makes the first one hang, {@code /control/arrivals} says when the first two
 * were asked.
 */
public final class FaultyOrigin implements AutoCloseable {

  /** What the first one does. */
  public enum Fault {
    /** Answers. */
    NONE,
    /** Listens no more. */
    REFUSED,
    /** Takes requests and never answers. */
    HANG,
    /** Resets the connection within the head. */
    RESET,
    /** Sends a few octets of the head a second. */
    DRIP,
    /** Answers 503. */
    ERROR;

    /** As it stands in orders and tables. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Which of the three. */
  public enum Role {
    FAULTY,
    PARTNER,
    OTHER
  }

  /**
   * A request came.
   *
   * @param nanos of {@link System#nanoTime}, which is the same for all processes of a machine
   */
  public record Arrival(Role role, long nanos) {}

  /** Of each answer. */
  public static final int CONTENT_LENGTH = 1024;

  /** What the path of an order begins with; behind it stands a fault's label, or the next word. */
  public static final String CONTROL = "/control/";

  /** Asks for the arrivals since the last change. */
  public static final String ARRIVALS = "arrivals";

  private static final long DRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int RESET_AFTER = 20;
  private static final Answer SOUND = answer(200, FixedContent.octets(CONTENT_LENGTH));
  private static final Answer ERROR = answer(503, new byte[0]);

  private final ScriptedOrigin[] origins = new ScriptedOrigin[Role.values().length];
  private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();

  // Volatile: changed by an order, read for each request.
  private volatile Fault fault = Fault.NONE;

  private FaultyOrigin(List<Integer> ports) throws IOException {
    for (Role role : Role.values()) {
      origins[role.ordinal()] = start(ports.get(role.ordinal()), role);
    }
  }

  /** Serves on the loopback ports given: the faulty one's, its partner's, the other's. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    try (var origin = open(Arrays.stream(arguments).map(Integer::valueOf).toList())) {
      new CountDownLatch(1).await();
    }
  }

  /** The same; port 0 is one that nobody has. */
  static FaultyOrigin open(List<Integer> ports) throws IOException {
    return new FaultyOrigin(ports);
  }

  private ScriptedOrigin start(int port, Role role) throws IOException {
    return ScriptedOrigin.start(
        port, ScriptedOrigin.answering((request, connection) -> asked(role, request, connection)));
  }

  /** Where one of the three listens. */
  int port(Role role) {
    return origins[role.ordinal()].port();
  }

  private boolean asked(Role role, Request request, Socket connection) throws IOException {
    if (role == Role.OTHER && request.target().startsWith(CONTROL)) {
      byte[] told = obey(request.target().substring(CONTROL.length()));
      answer(200, told).send(request, connection);
      return true;
    }
    if (role != Role.OTHER) {
      arrivals.add(new Arrival(role, System.nanoTime()));
    }
    switch (role == Role.FAULTY ? fault : Fault.NONE) {
      case NONE -> SOUND.send(request, connection);
      case HANG, REFUSED -> {}
      case RESET -> {
        connection.getOutputStream().write(SOUND.octets(), 0, RESET_AFTER);
        connection.setSoLinger(true, 0);
        return false;
      }
      case DRIP -> drip(connection.getOutputStream());
      case ERROR -> ERROR.send(request, connection);
    }
    return true;
  }

  /** Ends with the connection, which the next change closes. */
  private static void drip(OutputStream out) throws IOException {
    for (byte octet : SOUND.octets()) {
      out.write(octet);
      LockSupport.parkNanos(DRIP_NANOS);
    }
  }

  private static Answer answer(int status, byte[] content) {
    return new Answer(
        status,
        List.of("Cache-Control: no-store", "Content-Type: application/octet-stream"),
        content);
  }

  private synchronized byte[] obey(String order) throws IOException {
    if (order.equals(ARRIVALS)) {
      return text(arrivals).getBytes(US_ASCII);
    }
    change(Fault.valueOf(order.toUpperCase(Locale.ROOT)));
    return new byte[0];
  }

  /** As a process that ends and another that begins: the faulty one's connections are closed. */
  private void change(Fault next) throws IOException {
    ScriptedOrigin faulty = origins[Role.FAULTY.ordinal()];
    boolean wasRefused = fault == Fault.REFUSED;
    fault = next;
    if (next == Fault.REFUSED) {
      faulty.close();
    } else if (wasRefused) {
      origins[Role.FAULTY.ordinal()] = start(faulty.port(), Role.FAULTY);
    } else {
      faulty.closeConnections();
    }
    arrivals.clear();
  }

  /** A line for each arrival since the last change. */
  static String text(Collection<Arrival> arrivals) {
    var text = new StringBuilder();
    for (Arrival arrival : arrivals) {
      text.append(arrival.role()).append(' ').append(arrival.nanos()).append('\n');
    }
    return text.toString();
  }

  /** Reads such lines. */
  public static List<Arrival> parse(String text) {
    return text.lines()
        .map(line -> line.split(" ", 2))
        .map(words -> new Arrival(Role.valueOf(words[0]), Long.parseLong(words[1])))
        .toList();
  }

  @Override
  public void close() throws IOException {
    for (ScriptedOrigin origin : origins) {
      origin.close();
    }
  }
}
