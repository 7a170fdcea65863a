package io.kamille.launcher.appliance;

import io.kamille.core.Await;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * An origin over plain sockets that answers each target as a test has written, octet by octet, and
 * remembers every request as it came. Any thread.
 */
public final class StubOrigin implements AutoCloseable {

  /** What happens when a request for a target has come. */
  @FunctionalInterface
  public interface Script {
    void run(Visit visit) throws IOException;
  }

  /**
   * A request as it came.
   *
   * @param head up to and with the empty line
   * @param connection the number of the connection it came on, from 1
   */
  public record Request(String head, int connection) {

    public String line() {
      return head.substring(0, head.indexOf("\r\n"));
    }

    public String method() {
      return head.substring(0, head.indexOf(' '));
    }

    public String target() {
      return line().split(" ", -1)[1];
    }

    /** The values of all lines of this name, in their order. */
    public List<String> values(String name) {
      String start = name.toLowerCase(Locale.ROOT) + ":";
      return head.lines()
          .skip(1)
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(start))
          .map(line -> line.substring(start.length()).strip())
          .toList();
    }

    public @Nullable String field(String name) {
      List<String> values = values(name);
      return values.isEmpty() ? null : String.join(", ", values);
    }
  }

  /** Has the port until the end, so that no other process listens there once this one is dead. */
  private final Socket place;

  private final ServerSocket server;
  private final Map<String, Script> scripts = new ConcurrentHashMap<>();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final CountDownLatch word = new CountDownLatch(1);

  private StubOrigin(Socket place, ServerSocket server) {
    this.place = place;
    this.server = server;
  }

  public static StubOrigin open() throws IOException {
    return open(0);
  }

  /** On that port of the loopback address. */
  public static StubOrigin open(int port) throws IOException {
    Socket place = new Socket();
    place.setReuseAddress(true);
    place.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    ServerSocket server = new ServerSocket();
    server.setReuseAddress(true);
    server.bind(place.getLocalSocketAddress(), 256);
    StubOrigin origin = new StubOrigin(place, server);
    origin.threads.add(Thread.ofVirtual().start(origin::accept));
    return origin;
  }

  public int port() {
    return server.getLocalPort();
  }

  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /** From now on, requests for {@code target} go like this. */
  public StubOrigin on(String target, Script script) {
    scripts.put(target, script);
    return this;
  }

  /** From now on, requests for {@code target} are read whole and get these octets. */
  public StubOrigin on(String target, String message) {
    return on(
        target,
        visit -> {
          visit.content();
          visit.send(message);
        });
  }

  /** A 200 of this moment with content of a known length. */
  public static String ok(String content, String... lines) {
    return message("200 OK", content, lines);
  }

  /** A message of this moment with content of a known length. */
  public static String message(String status, String content, String... lines) {
    return head(status, lines) + "Content-Length: " + content.length() + "\r\n\r\n" + content;
  }

  /** A head of this moment without the empty line at its end. */
  public static String head(String status, String... lines) {
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + "\r\n" + "Date: " + date(0));
    for (String line : lines) {
      head.append("\r\n").append(line);
    }
    return head + "\r\n";
  }

  /** The date so many seconds ago, as fields have it. */
  public static String date(long secondsAgo) {
    return DateTimeFormatter.RFC_1123_DATE_TIME
        .withLocale(Locale.ROOT)
        .format(Instant.now().minusSeconds(secondsAgo).atOffset(ZoneOffset.UTC))
        .replaceFirst(", (\\d) ", ", 0$1 ");
  }

  /** All requests so far. */
  public List<Request> requests() {
    return requests;
  }

  /** Requests for this target so far. */
  public List<Request> requests(String target) {
    return requests.stream().filter(request -> request.target().equals(target)).toList();
  }

  /** The only request for this target. */
  public Request request(String target) {
    List<Request> found = requests(target);
    if (found.size() != 1) {
      throw new AssertionError(target + " was asked " + found.size() + " times (expected: once)");
    }
    return found.getFirst();
  }

  /** Waits until this target was asked so often. */
  public void awaitRequests(String target, int count) {
    Await.until(() -> requests(target).size() >= count, target + " is asked");
  }

  /** Gives the word that scripts wait for. */
  public void giveTheWord() {
    word.countDown();
  }

  /**
   * Dies: nothing more is accepted, all connections are reset. Waits for the threads too, since a
   * virtual thread that waits on a socket is the one that really closes it.
   */
  public void kill() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      reset(socket);
    }
    Await.until(() -> threads.stream().noneMatch(Thread::isAlive), "the origin is dead");
  }

  private static void reset(Socket socket) throws IOException {
    if (!socket.isClosed()) {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    place.close();
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        int connection = sockets.size();
        threads.add(Thread.ofVirtual().start(() -> serve(socket, connection)));
      }
    } catch (IOException closed) {
      // The test is over, or wants no more connections.
    }
  }

  private void serve(Socket socket, int connection) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (!socket.isClosed()) {
        Request request = new Request(section(in), connection);
        requests.add(request);
        Visit visit = new Visit(socket, in, request, word);
        scripts.getOrDefault(request.target(), StubOrigin::notFound).run(visit);
        visit.content();
      }
    } catch (IOException broken) {
      // Ends when the other side does; the test looks at what came of it.
    }
  }

  private static void notFound(Visit visit) throws IOException {
    visit.content();
    visit.send(message("404 Not Found", "nothing here", "Cache-Control: no-store"));
  }

  /** Lines up to and with the empty one. */
  private static String section(InputStream in) throws IOException {
    StringBuilder section = new StringBuilder();
    while (true) {
      int octet = in.read();
      if (octet < 0) {
        throw new EOFException();
      }
      section.append((char) octet);
      String end = section.substring(Math.max(0, section.length() - 4));
      if (end.equals("\r\n\r\n") || end.equals("\r\n")) {
        return section.toString();
      }
    }
  }

  /** One request and what is done about it. Confined to its connection's thread. */
  public static final class Visit {

    private final Socket socket;
    private final InputStream in;
    private final Request request;
    private final CountDownLatch word;
    private @Nullable String content;
    private String trailers = "";

    Visit(Socket socket, InputStream in, Request request, CountDownLatch word) {
      this.socket = socket;
      this.in = in;
      this.request = request;
      this.word = word;
    }

    public Request request() {
      return request;
    }

    public InputStream in() {
      return in;
    }

    public OutputStream out() throws IOException {
      return socket.getOutputStream();
    }

    public Visit send(String octets) throws IOException {
      socket.getOutputStream().write(octets.getBytes(StandardCharsets.ISO_8859_1));
      return this;
    }

    /** Reads the content, once. */
    public String content() throws IOException {
      if (content == null) {
        content = new String(readContent(), StandardCharsets.ISO_8859_1);
      }
      return content;
    }

    /** The trailer section behind the content, as it came. */
    public String trailers() throws IOException {
      content();
      return trailers;
    }

    /** The script has read the content itself. */
    public void contentIsRead() {
      content = "";
    }

    private byte[] readContent() throws IOException {
      if (request.field("Upgrade") != null) {
        return new byte[0];
      }
      if ("chunked".equals(request.field("Transfer-Encoding"))) {
        return chunks();
      }
      String length = request.field("Content-Length");
      return length == null ? new byte[0] : exactly(Integer.parseInt(length));
    }

    private byte[] chunks() throws IOException {
      ByteArrayOutputStream octets = new ByteArrayOutputStream();
      while (true) {
        int size = Integer.parseInt(line(), 16);
        if (size == 0) {
          trailers = section(in);
          return octets.toByteArray();
        }
        octets.writeBytes(exactly(size));
        line();
      }
    }

    private byte[] exactly(int length) throws IOException {
      byte[] octets = in.readNBytes(length);
      if (octets.length < length) {
        throw new EOFException();
      }
      return octets;
    }

    /** One line, without its end. */
    public String line() throws IOException {
      StringBuilder line = new StringBuilder();
      while (true) {
        int octet = in.read();
        if (octet < 0) {
          throw new EOFException();
        }
        if (octet == '\n') {
          return line.substring(0, line.length() - 1);
        }
        line.append((char) octet);
      }
    }

    /** Goes on when the test has given the word. */
    public Visit awaitTheWord() {
      Await.opened(word);
      return this;
    }

    /** Says nothing more until the other side ends the connection. */
    public void hang() throws IOException {
      while (in.read() >= 0) {
        // What still comes is not answered.
      }
      close();
    }

    /** Ends the connection. */
    public void close() throws IOException {
      socket.close();
    }

    /** Ends the connection with a reset. */
    public void reset() throws IOException {
      StubOrigin.reset(socket);
    }
  }
}
