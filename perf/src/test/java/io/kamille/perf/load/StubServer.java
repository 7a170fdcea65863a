package io.kamille.perf.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers on loopback as a test says; a thread for each connection. */
final class StubServer implements AutoCloseable {

  /** Answers one request. */
  @FunctionalInterface
  interface Answer {

    /**
     * Answers.
     *
     * @param number 1 for the first request of all
     */
    void to(int number, Socket socket) throws IOException, InterruptedException;
  }

  private final ServerSocket socket;
  private final Answer answer;
  private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger lastRequests = new AtomicInteger();

  private StubServer(Answer answer) throws IOException {
    this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.answer = answer;
  }

  static StubServer open(Answer answer) throws IOException {
    var server = new StubServer(answer);
    Thread.ofPlatform().daemon().start(server::accept);
    return server;
  }

  private void accept() {
    try {
      while (true) {
        Socket connection = socket.accept();
        accepted.add(connection);
        Thread.ofPlatform().daemon().start(() -> serve(connection));
      }
    } catch (IOException closed) {
      return;
    }
  }

  private void serve(Socket connection) {
    try (connection;
        var in =
            new BufferedReader(
                new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("Connection: close")) {
          lastRequests.incrementAndGet();
        }
        if (line.isEmpty()) {
          answer.to(requests.incrementAndGet(), connection);
        }
      }
    } catch (IOException closed) {
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void write(Socket connection, String text) throws IOException {
    OutputStream out = connection.getOutputStream();
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  int port() {
    return socket.getLocalPort();
  }

  int requests() {
    return requests.get();
  }

  /** Requests that said they are the last on their connection. */
  int lastRequests() {
    return lastRequests.get();
  }

  int connections() {
    return accepted.size();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    for (Socket connection : accepted) {
      connection.close();
    }
  }
}
