package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An origin on a loopback port: a virtual thread serves each connection as a script says. Any
 * thread.
 */
public final class ScriptedOrigin implements AutoCloseable {

  private static final int BACKLOG = 1024;

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

  private final ServerSocket listener;
  private final Script script;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
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

  private void accept() {
    try {
      while (true) {
        Socket connection = listener.accept();
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
    for (Socket connection : open) {
      connection.close();
    }
  }
}
