package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A place for one connection at a time, and the request that is under way on it. Confined to the
 * client's thread.
 */
final class LoadConnection {

  private static final long NOTHING_UNDER_WAY = -1;

  private final ResponseReader reader = new ResponseReader();
  private final LoadSettings settings;
  private final Selector selector;
  private final int number;

  private @Nullable SocketChannel channel;
  private @Nullable SelectionKey key;
  private @Nullable LoadRequest request;
  private long intendedNanos = NOTHING_UNDER_WAY;
  private long begunNanos;
  private long firstNanos;
  private int readOperation = SelectionKey.OP_READ;
  private long received;
  private long receivedBefore;
  private int uses;
  private int usesLimit;

  /** With a number that tells it from others. */
  LoadConnection(LoadSettings settings, Selector selector, int number) {
    this.settings = settings;
    this.selector = selector;
    this.number = number;
  }

  int number() {
    return number;
  }

  /** From now on nothing is read but by {@link LoadClient#read}. To be called before it opens. */
  void readOnlyWhenTold() {
    readOperation = 0;
  }

  /** Connects and waits until that has happened. */
  void open() throws IOException {
    SocketChannel socket = newChannel();
    socket.connect(settings.server());
    socket.configureBlocking(false);
    key = socket.register(selector, SelectionKey.OP_READ, this);
  }

  /** Begins to connect; the selector tells when to go on. */
  void beginOpen() throws IOException {
    SocketChannel socket = newChannel();
    socket.configureBlocking(false);
    boolean isConnected = socket.connect(settings.server());
    int awaited = isConnected ? readOperation : SelectionKey.OP_CONNECT;
    key = socket.register(selector, awaited, this);
    if (isConnected) {
      write();
    }
  }

  private SocketChannel newChannel() throws IOException {
    SocketChannel socket = SocketChannel.open();
    channel = socket;
    uses = 0;
    usesLimit = settings.uses().getAsInt();
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    if (!settings.locals().isEmpty()) {
      socket.bind(new InetSocketAddress(settings.locals().get(number), 0));
    }
    return socket;
  }

  /** Completes {@link #beginOpen} and sends the request that was waiting for it. */
  void finishOpen() throws IOException {
    socket().finishConnect();
    key().interestOps(readOperation);
  }

  /** Takes a request that should have been sent at one time, and is at another. */
  void take(LoadRequest next, long asIntendedNanos, long nanos) {
    request = next;
    intendedNanos = asIntendedNanos;
    begunNanos = nanos;
    firstNanos = 0;
    receivedBefore = received;
    reader.expect(next);
  }

  /** Octets came at that time. */
  void received(long nanos) {
    firstNanos = firstNanos == 0 ? nanos : firstNanos;
  }

  /** What became of the request under way. */
  LoadOutcome outcome(@Nullable LoadFailure failure) {
    if (request == null) {
      throw new IllegalStateException("nothing is under way");
    }
    return new LoadOutcome(
        request, intendedNanos, begunNanos, firstNanos, reader.source(), failure);
  }

  /** Sends what was taken. */
  void write() throws IOException {
    if (request == null) {
      throw new IllegalStateException("no request was taken");
    }
    uses++;
    ByteBuffer octets = request.octets(isLastUse());
    socket().write(octets);
    if (octets.hasRemaining()) {
      throw new IOException("the socket does not take a request of " + octets.limit() + " octets");
    }
  }

  /** Reads into a buffer; negative at the end. */
  int read(ByteBuffer in) throws IOException {
    int count = socket().read(in);
    received += Math.max(0, count);
    return count;
  }

  /** Octets that have come here so far, on all connections. */
  long received() {
    return received;
  }

  ResponseReader reader() {
    return reader;
  }

  /** When the request under way should have been sent. */
  long intendedNanos() {
    return intendedNanos;
  }

  /** The request under way is over. */
  void finish() {
    request = null;
    intendedNanos = NOTHING_UNDER_WAY;
  }

  boolean isBusy() {
    return intendedNanos != NOTHING_UNDER_WAY;
  }

  boolean isOpen() {
    return channel != null;
  }

  /** Whether that key is the present connection's, not one's that is gone. */
  boolean isAt(SelectionKey other) {
    return other.equals(key) && other.isValid();
  }

  boolean isConnecting() {
    return (key().interestOps() & SelectionKey.OP_CONNECT) != 0;
  }

  /** Whether it was used before and nothing has come in answer to the request under way. */
  boolean mayHaveEndedBefore() {
    return uses > 1 && received == receivedBefore;
  }

  /** Whether no further request may follow the present one. */
  boolean isLastUse() {
    return uses >= usesLimit;
  }

  /** Gives up the connection; the place stays. */
  void close() {
    SocketChannel socket = channel;
    channel = null;
    key = null;
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new IllegalStateException("closing a socket that does not block", e);
      }
    }
  }

  private SocketChannel socket() {
    if (channel == null) {
      throw new IllegalStateException("not open");
    }
    return channel;
  }

  private SelectionKey key() {
    if (key == null) {
      throw new IllegalStateException("not open");
    }
    return key;
  }
}
