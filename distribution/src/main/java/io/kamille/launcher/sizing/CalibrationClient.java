package io.kamille.launcher.sizing;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Asks on a few persistent connections, again as soon as all have their answers. Confined. */
final class CalibrationClient implements AutoCloseable {

  private static final int CONNECTIONS = 4;
  private static final int READ_BYTES = 1 << 16;
  private static final int PATIENCE_MILLIS = 30_000;
  private static final byte[] END_OF_HEAD = "\r\n\r\n".getBytes(US_ASCII);
  private static final byte[] GOOD = "HTTP/1.1 200 ".getBytes(US_ASCII);

  private final List<Socket> sockets = new ArrayList<>();
  private final byte[] in = new byte[READ_BYTES];

  /** Connects. */
  CalibrationClient(InetSocketAddress server) throws IOException {
    for (int i = 0; i < CONNECTIONS; i++) {
      var socket = new Socket();
      sockets.add(socket);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(server, PATIENCE_MILLIS);
    }
  }

  /** Asks once on each connection for content of that length, and reads all of it. */
  void ask(String path, int length) throws IOException {
    byte[] request =
        ("GET " + path + "/" + length + " HTTP/1.1\r\nHost: calibration\r\n\r\n")
            .getBytes(US_ASCII);
    for (Socket socket : sockets) {
      socket.getOutputStream().write(request);
    }
    for (Socket socket : sockets) {
      read(socket.getInputStream(), length);
    }
  }

  private void read(InputStream stream, int length) throws IOException {
    int filled = 0;
    int end = -1;
    while (end < 0) {
      filled += readSome(stream, filled);
      end = endOfHead(filled);
    }
    for (int i = 0; i < GOOD.length; i++) {
      if (in[i] != GOOD[i]) {
        throw new IOException("a request was not answered with 200");
      }
    }
    int left = length - (filled - end);
    while (left > 0) {
      left -= readSome(stream, 0);
    }
    if (left < 0) {
      throw new IOException("a response was longer than expected");
    }
  }

  private int readSome(InputStream stream, int from) throws IOException {
    int count = stream.read(in, from, in.length - from);
    if (count <= 0) {
      throw new IOException("a response broke off");
    }
    return count;
  }

  /** Where the content begins; negative if the head is not complete. */
  private int endOfHead(int filled) {
    for (int at = 0; at + END_OF_HEAD.length <= filled; at++) {
      int same = 0;
      while (same < END_OF_HEAD.length && in[at + same] == END_OF_HEAD[same]) {
        same++;
      }
      if (same == END_OF_HEAD.length) {
        return at + same;
      }
    }
    return -1;
  }

  @Override
  public void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
