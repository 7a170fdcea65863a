package io.kamille.perf.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.HdrHistogram.Histogram;

/** Four octets that go to a server and come back, again and again. Confined to one thread. */
public final class PingPong implements AutoCloseable {

  private static final byte[] BALL = {'E', 'c', 'h', 'o'};
  private static final long GREATEST_NANOS = 60_000_000_000L;
  private static final int DIGITS = 3;

  private final SocketChannel channel;
  private final ByteBuffer out = ByteBuffer.allocateDirect(BALL.length).put(BALL).flip();
  private final ByteBuffer in = ByteBuffer.allocateDirect(BALL.length);

  private PingPong(SocketChannel channel) {
    this.channel = channel;
  }

  /** Connects to a loopback port. */
  public static PingPong open(int port) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    return new PingPong(channel);
  }

  /**
   * Sends and waits, busily, until it is back.
   *
   * @param times how often, at most
   * @param pauseNanos between the return of the ball and the next time it is sent
   * @param limit after which it is not sent again
   * @return round-trip times in nanoseconds
   * @throws IOException if the server does not send back what it got
   */
  public Histogram play(int times, long pauseNanos, Duration limit) throws IOException {
    var trips = new Histogram(GREATEST_NANOS, DIGITS);
    long first = System.nanoTime();
    for (int i = 0; i < times && System.nanoTime() - first < limit.toNanos(); i++) {
      long begin = System.nanoTime();
      channel.write(out.rewind());
      in.clear();
      while (in.hasRemaining()) {
        if (channel.read(in) < 0) {
          throw new EOFException("the server closed the connection");
        }
      }
      long end = System.nanoTime();
      if (in.flip().mismatch(out.rewind()) >= 0) {
        throw new IOException("another ball came back");
      }
      trips.recordValue(Math.clamp(end - begin, 0, GREATEST_NANOS));
      while (System.nanoTime() - end < pauseNanos) {
        Thread.onSpinWait();
      }
    }
    return trips;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
