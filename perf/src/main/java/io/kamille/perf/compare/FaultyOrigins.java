package io.kamille.perf.compare;

import io.kamille.launcher.origin.ScriptedAnswer;
import io.kamille.launcher.origin.ScriptedOrigin;
import io.kamille.launcher.origin.ScriptedOrigin.Request;
import io.kamille.perf.load.FixedContent;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Origins of one route, of which the first fails as it is told, and a sound one of another route.
 * Any thread.
 */
final class FaultyOrigins implements AutoCloseable {

  /** What the first one does. */
  enum Fault {
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
    ERROR,
    /** Answers 300 ms late. */
    SLOW;

    /** As it stands in options and tables. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Of each answer. */
  static final byte[] CONTENT = FixedContent.octets(1024);

  private static final List<String> LINES =
      List.of("Cache-Control: no-store", "Content-Type: application/octet-stream");
  private static final ScriptedAnswer ANSWER = new ScriptedAnswer(200, LINES, CONTENT);
  private static final ScriptedAnswer ERROR = new ScriptedAnswer(503, LINES, new byte[0]);
  private static final int BEGINNING_LENGTH = 20;
  private static final long DRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final List<ScriptedOrigin> partners = new ArrayList<>();
  private final ScriptedOrigin other;
  private final int faultyPort;
  private final Set<String> posted = ConcurrentHashMap.newKeySet();
  private final AtomicInteger twice = new AtomicInteger();
  private ScriptedOrigin faulty;

  // Volatile: set by who plays the faults, read by the connections.
  private volatile Fault fault = Fault.NONE;

  /** With so many origins on the route that fails. */
  FaultyOrigins(int count) throws IOException {
    faulty = start(0, true);
    faultyPort = faulty.port();
    for (int i = 1; i < count; i++) {
      partners.add(start(0, false));
    }
    other =
        ScriptedOrigin.start(
            0,
            ScriptedOrigin.answering(
                (request, connection) -> {
                  ANSWER.send(request, connection);
                  return !request.isLast();
                }));
  }

  private ScriptedOrigin start(int port, boolean isFaulty) throws IOException {
    return ScriptedOrigin.start(
        port,
        ScriptedOrigin.answering((request, connection) -> answer(isFaulty, request, connection)));
  }

  private boolean answer(boolean isFaulty, Request request, Socket connection) throws IOException {
    if (request.method().equals("POST") && !posted.add(request.target())) {
      twice.incrementAndGet();
    }
    switch (isFaulty ? fault : Fault.NONE) {
      case NONE, REFUSED -> ANSWER.send(request, connection);
      case HANG -> connection.getInputStream().transferTo(OutputStream.nullOutputStream());
      case RESET -> {
        connection.getOutputStream().write(ANSWER.octets(), 0, BEGINNING_LENGTH);
        connection.setSoLinger(true, 0);
        return false;
      }
      case DRIP -> {
        for (byte octet : ANSWER.octets()) {
          connection.getOutputStream().write(octet);
          LockSupport.parkNanos(DRIP_NANOS);
        }
      }
      case ERROR -> ERROR.send(request, connection);
      case SLOW -> {
        LockSupport.parkNanos(SLOW_NANOS);
        ANSWER.send(request, connection);
      }
    }
    return !request.isLast();
  }

  /** The ports of the route that fails, the faulty one first. */
  List<Integer> ports() {
    var ports = new ArrayList<>(List.of(faultyPort));
    partners.forEach(partner -> ports.add(partner.port()));
    return ports;
  }

  int otherPort() {
    return other.port();
  }

  /** As a process that ends and another that begins: what was open is closed. */
  void change(Fault next) throws IOException {
    Fault before = fault;
    fault = next;
    if (next == Fault.REFUSED) {
      faulty.close();
    } else if (before == Fault.REFUSED) {
      faulty = start(faultyPort, true);
    } else {
      faulty.closeConnections();
    }
  }

  /** How many POSTs came again since this was asked last. */
  int postedTwice() {
    posted.clear();
    return twice.getAndSet(0);
  }

  @Override
  public void close() throws IOException {
    faulty.close();
    other.close();
    for (ScriptedOrigin partner : partners) {
      partner.close();
    }
  }
}
