package io.kamille.launcher.sizing;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Answers {@code /hit/LENGTH} with content that may be stored and {@code /miss/LENGTH} with content
 * that must not be. Any thread.
 */
public final class CalibrationOrigin implements AutoCloseable {

  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private CalibrationOrigin(ServerSocket listener) {
    this.listener = listener;
  }

  /** Starts on a free loopback port. */
  public static CalibrationOrigin start() throws IOException {
    var origin = new CalibrationOrigin(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()));
    origin.threads.execute(origin::accept);
    return origin;
  }

  /** Where it listens, on the loopback address. */
  public int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        threads.execute(() -> serve(socket));
      }
    } catch (IOException closed) {
      return;
    }
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
      String request = in.readLine();
      while (request != null) {
        for (String line = in.readLine(); line != null && !line.isEmpty(); ) {
          line = in.readLine();
        }
        socket.getOutputStream().write(response(request.split(" ", -1)[1]));
        request = in.readLine();
      }
    } catch (IOException gone) {
      return;
    }
  }

  private static byte[] response(String path) {
    String[] words = path.split("/", -1);
    int length = Integer.parseInt(words[2]);
    String life = words[1].equals("hit") ? "max-age=3600" : "no-store";
    byte[] head =
        ("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\nCache-Control: " + life + "\r\n\r\n")
            .getBytes(US_ASCII);
    byte[] response = new byte[head.length + length];
    System.arraycopy(head, 0, response, 0, head.length);
    return response;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    threads.shutdownNow();
  }
}
