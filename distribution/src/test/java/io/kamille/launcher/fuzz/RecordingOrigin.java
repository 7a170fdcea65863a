package io.kamille.launcher.fuzz;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An origin that takes nothing but the normal form of a request, records each complete one under
 * the client that it is for, and sends its content back under its number, or what a fuzzer has
 * planned. Any thread.
 */
final class RecordingOrigin implements AutoCloseable {

  /** A complete request as it was read here. */
  record Seen(String method, String target, String host, String content) {}

  /**
   * What is sent in place of an echo, once.
   *
   * @param closes whether the connection ends behind it
   */
  record Plan(String octets, boolean closes) {}

  private static final String TOKEN = "[-!#$%&'*+.^_`|~0-9A-Za-z]+";
  private static final Pattern REQUEST_LINE =
      Pattern.compile("(" + TOKEN + ") (\\*|/[\\x21-\\x7e&&[^#]]*) HTTP/1\\.1");
  private static final Pattern FIELD_LINE =
      Pattern.compile("(" + TOKEN + "):[ \\t]*([\\t\\x20-\\x7e\\x80-\\xff]*?)[ \\t]*");
  private static final Pattern SIZE = Pattern.compile("[0-9a-f]{1,8}");
  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,9}");

  /** How many clients whose connections were reset are remembered. */
  private static final int RESETS_LIMIT = 10_000;

  private final ServerSocket server;
  private final Map<String, List<Seen>> clients = new ConcurrentHashMap<>();
  private final Queue<String> resetClients = new ConcurrentLinkedQueue<>();
  private final AtomicInteger resets = new AtomicInteger();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final Map<String, Plan> plans = new ConcurrentHashMap<>();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  private RecordingOrigin(ServerSocket server) {
    this.server = server;
  }

  static RecordingOrigin open() throws IOException {
    ServerSocket server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
    RecordingOrigin origin = new RecordingOrigin(server);
    Thread.ofVirtual().start(origin::accept);
    return origin;
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  /** Where the complete requests of a client go; the number in an echo is an index. */
  List<Seen> expect(String client) {
    List<Seen> seen = Collections.synchronizedList(new ArrayList<>());
    clients.put(client, seen);
    return seen;
  }

  /**
   * Another request of the client is a fault.
   *
   * @param wasReset whether requests may still be under way; then it is none
   */
  void forget(String client, boolean wasReset) {
    if (!wasReset) {
      clients.remove(client);
      return;
    }
    resetClients.add(client);
    if (resets.incrementAndGet() > RESETS_LIMIT) {
      clients.remove(resetClients.remove());
    }
  }

  /** What was not in normal form, as it came. */
  List<String> faults() {
    return List.copyOf(faults);
  }

  void plan(String target, Plan plan) {
    plans.put(target, plan);
  }

  /** Takes a plan back that nobody has asked for. */
  void unplan(String target) {
    plans.remove(target);
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The fuzzer has finished.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      Connection connection = new Connection(socket.getInputStream(), socket.getOutputStream());
      while (connection.exchange()) {}
    } catch (EOFException cut) {
      // The proxy broke a request off, or has no more for this connection.
    } catch (IOException broken) {
      // The same, in haste.
    } finally {
      sockets.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private final class Connection {

    private final InputStream in;
    private final OutputStream out;
    private @Nullable String length;
    private @Nullable String coding;
    private @Nullable String host;
    private @Nullable String client;
    private boolean expects;

    Connection(InputStream in, OutputStream out) {
      this.in = new BufferedInputStream(in);
      this.out = out;
    }

    /** One request and its answer; whether another may follow. */
    boolean exchange() throws IOException {
      String line = line();
      var request = REQUEST_LINE.matcher(line);
      if (!request.matches()) {
        throw fault("a request line: " + line);
      }
      fields();
      if (expects) {
        send("HTTP/1.1 100 Continue\r\n\r\n");
      }
      String content = content();
      String target = request.group(2);
      Plan plan = plans.remove(target);
      if (plan != null) {
        send(plan.octets());
        return !plan.closes();
      }
      String told = host == null ? "" : host;
      int number = record(new Seen(request.group(1), target, told, content));
      boolean isHead = request.group(1).equals("HEAD");
      send(
          "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nX-Echo: "
              + client
              + '/'
              + number
              + "\r\nContent-Length: "
              + content.length()
              + "\r\n\r\n"
              + (isHead ? "" : content));
      return true;
    }

    private int record(Seen request) throws IOException {
      List<Seen> seen = client == null ? null : clients.get(client);
      if (seen == null) {
        throw fault("a request of " + client + ", who has gone: " + request);
      }
      synchronized (seen) {
        seen.add(request);
        return seen.size() - 1;
      }
    }

    private void fields() throws IOException {
      length = null;
      coding = null;
      host = null;
      client = null;
      expects = false;
      for (String line = line(); !line.isEmpty(); line = line()) {
        var field = FIELD_LINE.matcher(line);
        if (!field.matches()) {
          throw fault("a field line: " + line);
        }
        String value = field.group(2);
        switch (field.group(1).toLowerCase(Locale.ROOT).replace('_', '-')) {
          case "host" -> host = once(host, value);
          case "content-length" -> length = once(length, value);
          case "transfer-encoding" -> coding = once(coding, value);
          case "x-forwarded-for" -> client = once(client, value);
          case "expect" -> expects = true;
          default -> {}
        }
      }
      if (host == null || client == null || (length != null && coding != null)) {
        throw fault("a head without one host, one client and one framing");
      }
    }

    private String once(@Nullable String before, String value) throws IOException {
      if (before != null) {
        throw fault("a field twice: " + before + ", " + value);
      }
      return value;
    }

    private String content() throws IOException {
      if (coding != null) {
        if (!coding.equals("chunked")) {
          throw fault("a coding: " + coding);
        }
        return chunks();
      }
      if (length == null) {
        return "";
      }
      if (!LENGTH.matcher(length).matches()) {
        // Digits and too many of them: nobody sends as much.
        in.readAllBytes();
        throw new EOFException();
      }
      return exactly(Integer.parseInt(length));
    }

    private String chunks() throws IOException {
      StringBuilder content = new StringBuilder();
      while (true) {
        String size = line();
        if (!SIZE.matcher(size).matches()) {
          throw fault("a chunk size: " + size);
        }
        int octets = Integer.parseUnsignedInt(size, 16);
        if (octets == 0) {
          for (String line = line(); !line.isEmpty(); line = line()) {
            if (!FIELD_LINE.matcher(line).matches()) {
              throw fault("a trailer: " + line);
            }
          }
          return content.toString();
        }
        content.append(exactly(octets));
        if (!line().isEmpty()) {
          throw fault("a chunk longer than its size");
        }
      }
    }

    private String exactly(int octets) throws IOException {
      byte[] read = in.readNBytes(octets);
      if (read.length < octets) {
        throw new EOFException();
      }
      return new String(read, StandardCharsets.ISO_8859_1);
    }

    private String line() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      while (true) {
        int octet = in.read();
        if (octet < 0) {
          throw new EOFException();
        }
        if (octet == '\r') {
          int next = in.read();
          if (next != '\n') {
            throw next < 0 ? new EOFException() : fault("a CR alone behind " + line);
          }
          return line.toString(StandardCharsets.ISO_8859_1);
        }
        if (octet == '\n') {
          throw fault("an LF alone behind " + line);
        }
        line.write(octet);
      }
    }

    private IOException fault(String what) {
      faults.add(what);
      return new IOException(what);
    }

    private void send(String octets) throws IOException {
      out.write(octets.getBytes(StandardCharsets.ISO_8859_1));
    }
  }
}
