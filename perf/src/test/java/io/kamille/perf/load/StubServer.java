package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers on loopback as a test says; a virtual thread for each connection. */
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

  private final Answer answer;
  private final ScriptedOrigin origin;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger lastRequests = new AtomicInteger();

  private StubServer(Answer answer) throws IOException {
    this.answer = answer;
    this.origin = ScriptedOrigin.start(0, this::serve);
  }

  static StubServer open(Answer answer) throws IOException {
    return new StubServer(answer);
  }

  private void serve(Socket connection) throws IOException {
    connections.incrementAndGet();
    var in = new BufferedReader(new InputStreamReader(connection.getInputStream(), ISO_8859_1));
    while (!connection.isClosed() && in.readLine() != null) {
      for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
        if (line.equalsIgnoreCase("connection: close")) {
          lastRequests.incrementAndGet();
        }
      }
      try {
        answer.to(requests.incrementAndGet(), connection);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  static void write(Socket connection, String text) throws IOException {
    OutputStream out = connection.getOutputStream();
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  int port() {
    return origin.port();
  }

  int requests() {
    return requests.get();
  }

  /** Requests that said they are the last on their connection. */
  int lastRequests() {
    return lastRequests.get();
  }

  int connections() {
    return connections.get();
  }

  @Override
  public void close() throws IOException {
    origin.close();
  }
}
