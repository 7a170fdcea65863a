package io.kamille.core.origin.send;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * An origin over a plain socket that does octet by octet what a test says: each connection follows
 * the next script. Any thread.
 */
public final class ScriptedOrigin implements AutoCloseable {

  /** What happens on one connection. */
  @FunctionalInterface
  public interface Script {
    void run(Conversation with) throws IOException;
  }

  private final ServerSocket server;
  private final @Nullable SSLContext tls;
  private final Queue<Script> scripts = new ConcurrentLinkedQueue<>();
  private final List<String> heads = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final Thread accepting;

  private ScriptedOrigin(ServerSocket server, @Nullable SSLContext tls) {
    this.server = server;
    this.tls = tls;
    this.accepting = Thread.ofVirtual().unstarted(this::accept);
  }

  public static ScriptedOrigin open(Script... scripts) throws IOException {
    return open(null, scripts);
  }

  /** An origin that speaks TLS; scripts say what is said within. */
  public static ScriptedOrigin open(@Nullable SSLContext tls, Script... scripts)
      throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    ScriptedOrigin origin = new ScriptedOrigin(server, tls);
    origin.scripts.addAll(List.of(scripts));
    origin.accepting.start();
    return origin;
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Connections accepted so far. */
  public int connections() {
    return connections.get();
  }

  /** The request heads read so far. */
  public List<String> heads() {
    return heads;
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        connections.incrementAndGet();
        Script script = scripts.poll();
        Thread.ofVirtual().start(() -> run(script == null ? Conversation::close : script, socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void run(Script script, Socket socket) {
    try {
      script.run(new Conversation(spoken(socket)));
    } catch (IOException broken) {
      // Scripts end early when the other side does; the test looks at what came of it.
    }
  }

  private Socket spoken(Socket socket) throws IOException {
    return tls == null ? socket : secured(tls, socket);
  }

  private static Socket secured(SSLContext tls, Socket socket) throws IOException {
    SSLSocket secure = (SSLSocket) tls.getSocketFactory().createSocket(socket, "", 0, true);
    secure.setUseClientMode(false);
    return secure;
  }

  /** Once this returns, the port refuses connections. */
  @Override
  public void close() throws IOException {
    server.close();
    // Closing only wakes the thread in accept: the kernel takes connections until it has run.
    try {
      accepting.join();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  /** One connection. What a script does not close stays open until the test ends. */
  public final class Conversation {

    private Socket socket;
    private InputStream in;
    private OutputStream out;

    Conversation(Socket socket) throws IOException {
      this.socket = socket;
      this.in = socket.getInputStream();
      this.out = socket.getOutputStream();
    }

    /** Speaks TLS from now on. */
    public void secure(SSLContext tls) throws IOException {
      socket = secured(tls, socket);
      in = socket.getInputStream();
      out = socket.getOutputStream();
    }

    /** Reads a head up to its empty line. */
    public String readHead() throws IOException {
      StringBuilder head = new StringBuilder();
      while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
        head.append((char) octet());
      }
      heads.add(head.toString());
      return head.toString();
    }

    /** Reads so many octets. */
    public String read(int length) throws IOException {
      StringBuilder text = new StringBuilder();
      while (text.length() < length) {
        text.append((char) octet());
      }
      return text.toString();
    }

    /** Reads and drops up to so many octets; answers how many. */
    public int skip(int length) throws IOException {
      int skipped = in.readNBytes(length).length;
      if (skipped == 0) {
        throw new IOException("closed by the other side");
      }
      return skipped;
    }

    /** Reads until these octets have come. */
    public String readUntil(String end) throws IOException {
      StringBuilder text = new StringBuilder();
      while (!text.toString().endsWith(end)) {
        text.append((char) octet());
      }
      return text.toString();
    }

    /** Reads until the other side closes. */
    public String readToEnd() throws IOException {
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private int octet() throws IOException {
      int octet = in.read();
      if (octet < 0) {
        throw new IOException("closed by the other side");
      }
      return octet;
    }

    /** The name that the client asked for by SNI, or null. */
    public @Nullable String serverName() throws IOException {
      SSLSession session = ((SSLSocket) socket).getSession();
      return ((ExtendedSSLSession) session)
          .getRequestedServerNames().stream()
              .map(name -> new String(name.getEncoded(), StandardCharsets.US_ASCII))
              .findFirst()
              .orElse(null);
    }

    /** From now on the client has to show a certificate; to be said before the handshake. */
    public void requireCertificate() {
      ((SSLSocket) socket).setNeedClientAuth(true);
    }

    /** What may be spoken within TLS; to be said before the handshake. */
    public void speaks(String... protocols) {
      SSLParameters parameters = ((SSLSocket) socket).getSSLParameters();
      parameters.setApplicationProtocols(protocols);
      ((SSLSocket) socket).setSSLParameters(parameters);
    }

    /** What ALPN settled. */
    public String protocol() throws IOException {
      ((SSLSocket) socket).startHandshake();
      return ((SSLSocket) socket).getApplicationProtocol();
    }

    /** The subject of the client's certificate. */
    public String peer() throws IOException {
      return ((SSLSocket) socket).getSession().getPeerPrincipal().getName();
    }

    public void send(String text) throws IOException {
      out.write(text.getBytes(StandardCharsets.ISO_8859_1));
      out.flush();
    }

    public void closeOutput() throws IOException {
      socket.shutdownOutput();
    }

    public void close() throws IOException {
      socket.close();
    }

    /** Ends all connections without a word of TLS. */
    public void cut() throws IOException {
      for (Socket open : sockets) {
        open.close();
      }
    }

    /** Ends the connection with a reset. */
    public void reset() throws SocketException, IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }
}
