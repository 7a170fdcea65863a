package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An origin on a loopback port: a virtual thread serves each connection as a script says. Any
 * thread.
 */
public final class ScriptedOrigin implements AutoCloseable {

  private static final int BACKLOG = 1024;
  private static final String CONTENT_LENGTH = "content-length:";

  /** Serves one connection. */
  @FunctionalInterface
  public interface Script {

    /**
     * Serves it; the connection is closed afterwards.
     *
     * @throws IOException if the connection breaks, which is the end of it and no fault
     */
    void serve(Socket connection) throws IOException;
  }

  /** Answers one request. */
  @FunctionalInterface
  public interface Answering {

    /**
     * Answers.
     *
     * @return whether another request may follow on this connection
     */
    boolean answer(Request request, Socket connection) throws IOException;
  }

  /**
   * A request that was received; its content was read and is not kept.
   *
   * @param isLast whether it says that no other one follows on its connection
   */
  public record Request(String method, String target, boolean isLast) {}

  private final ServerSocket listener;
  private final Script script;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private final Thread accepting = Thread.ofVirtual().name("origin").unstarted(this::accept);

  private ScriptedOrigin(ServerSocket listener, Script script) {
    this.listener = listener;
    this.script = script;
  }

  /**
   * Listens until it is closed.
   *
   * @param port on the loopback address; 0 lets the kernel choose
   */
  public static ScriptedOrigin start(int port, Script script) throws IOException {
    var listener = new ServerSocket();
    try {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
    } catch (IOException e) {
      listener.close();
      throw e;
    }
    var origin = new ScriptedOrigin(listener, script);
    origin.accepting.start();
    return origin;
  }

  /** A script that reads requests, with a Content-Length or without content, and answers each. */
  public static Script answering(Answering answering) {
    return connection -> {
      var in = new BufferedReader(new InputStreamReader(connection.getInputStream(), ISO_8859_1));
      boolean mayFollow = true;
      while (mayFollow) {
        Request request = read(in);
        mayFollow = request != null && answering.answer(request, connection);
      }
    };
  }

  private static @Nullable Request read(BufferedReader in) throws IOException {
    String start = in.readLine();
    if (start == null) {
      return null;
    }
    long length = 0;
    boolean isLast = false;
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      String field = line.toLowerCase(Locale.ROOT);
      if (field.startsWith(CONTENT_LENGTH)) {
        length = Long.parseLong(field.substring(CONTENT_LENGTH.length()).strip());
      }
      // What comes in chunks is not read, so nothing can follow it.
      isLast |= field.equals("connection: close") || field.startsWith("transfer-encoding:");
    }
    long left = length;
    while (left > 0 && in.read() >= 0) {
      left--;
    }
    String[] words = start.split(" ", -1);
    return words.length < 2 ? null : new Request(words[0], words[1], isLast);
  }

  private void accept() {
    try {
      while (true) {
        Socket connection = listener.accept();
        accepted.incrementAndGet();
        open.add(connection);
        Thread.ofVirtual().start(() -> serve(connection));
      }
    } catch (IOException closed) {
      return;
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      connection.setTcpNoDelay(true);
      script.serve(connection);
    } catch (IOException broken) {
      return;
    } finally {
      open.remove(connection);
    }
  }

  /** Where it listens, on the loopback address. */
  public int port() {
    return listener.getLocalPort();
  }

  /** How many connections there have been. */
  public int accepted() {
    return accepted.get();
  }

  /** Closes every connection, as a process that ends does, and goes on listening. */
  public void closeConnections() throws IOException {
    for (Socket connection : open) {
      connection.close();
    }
  }

  /** Once this returns, the port refuses connections. */
  @Override
  public void close() throws IOException {
    listener.close();
    // Closing only wakes the thread in accept: the kernel takes connections until it has run.
    try {
      accepting.join();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    closeConnections();
  }
}
