package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Many clients with a connection each that ask for one thing at about the same time, once. Confined
 * to one thread.
 */
public final class Crowd implements AutoCloseable {

  /*
   * It waits in the selector, so that an origin on the same core can work. While somebody still
   * waits for a first octet, little is read at once from those who have theirs: nobody's first octet
   * is noticed late because of somebody else's content.
   */

  /** Never, or after no amount. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final int FIRST_READ_BYTES = 4 * 1024;
  private static final int READ_BYTES = 256 * 1024;

  /**
   * What one of them does.
   *
   * @param sendNanos after the beginning
   * @param leaveNanos after the beginning, whatever it has got by then; {@link #NEVER} for not
   * @param leaveOctets of content after which it goes; {@link #NEVER} for not before the end
   */
  public record Plan(long sendNanos, long leaveNanos, long leaveOctets) {

    /** Stays to the end. */
    public static Plan stay(long sendNanos) {
      return new Plan(sendNanos, NEVER, NEVER);
    }
  }

  /**
   * What became of one.
   *
   * @param firstNanos from the beginning to its first octet; {@link #NEVER} if there was none
   * @param doneNanos from the beginning to its last octet, or to when it left or gave up
   * @param failure what was wrong; null if what it got was right, be it all or what it stayed for
   */
  public record Outcome(
      long sentNanos, long firstNanos, long doneNanos, @Nullable LoadFailure failure) {

    public boolean isAnswered() {
      return firstNanos != NEVER;
    }
  }

  private final Selector selector;
  private final List<Visitor> visitors = new ArrayList<>();
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private long beginNanos;
  private int unanswered;
  private int present;

  private Crowd(Selector selector) {
    this.selector = selector;
  }

  /**
   * Connects them to a loopback port.
   *
   * @throws IOException if one cannot be connected; all are closed then
   */
  public static Crowd open(int port, int count) throws IOException {
    var crowd = new Crowd(Selector.open());
    var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    try {
      for (int i = 0; i < count; i++) {
        crowd.visitors.add(new Visitor(SocketChannel.open(server), crowd.selector));
      }
      return crowd;
    } catch (IOException e) {
      crowd.close();
      throw e;
    }
  }

  /**
   * Lets all of them ask, once, and waits until the last one is done.
   *
   * @param requests one for each, alike
   * @param plans one for each
   * @param limit after which whoever is left gives up
   */
  public List<Outcome> ask(Supplier<LoadRequest> requests, List<Plan> plans, Duration limit)
      throws IOException {
    present = plans.size();
    unanswered = present;
    for (int i = 0; i < present; i++) {
      visitors.get(i).prepare(requests.get(), plans.get(i));
    }
    List<Visitor> toSend = inOrder(Comparator.comparingLong(visitor -> visitor.plan.sendNanos()));
    List<Visitor> toLeave = inOrder(Comparator.comparingLong(visitor -> visitor.plan.leaveNanos()));
    beginNanos = System.nanoTime();
    int sent = 0;
    int left = 0;
    long now = 0;
    while (present > 0 && now < limit.toNanos()) {
      while (sent < toSend.size() && toSend.get(sent).plan.sendNanos() <= now) {
        send(toSend.get(sent++));
        now = elapsed();
      }
      while (left < toLeave.size() && toLeave.get(left).plan.leaveNanos() <= now) {
        leave(toLeave.get(left++), null);
      }
      long next =
          Math.min(
              sent < toSend.size() ? toSend.get(sent).plan.sendNanos() : NEVER,
              left < toLeave.size() ? toLeave.get(left).plan.leaveNanos() : NEVER);
      await(Math.min(next, limit.toNanos()) - now);
      now = elapsed();
    }
    visitors.forEach(visitor -> leave(visitor, LoadFailure.TIME_OUT));
    return visitors.stream().map(Visitor::outcome).toList();
  }

  private List<Visitor> inOrder(Comparator<Visitor> order) {
    return visitors.stream().sorted(order).toList();
  }

  private void await(long nanos) throws IOException {
    if (present == 0) {
      return;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
    if (millis > 0) {
      selector.select(this::receive, millis);
    } else {
      selector.selectNow(this::receive);
    }
  }

  private long elapsed() {
    return System.nanoTime() - beginNanos;
  }

  private void send(Visitor visitor) {
    if (visitor.isDone()) {
      return;
    }
    visitor.sentNanos = elapsed();
    try {
      visitor.send();
    } catch (IOException e) {
      leave(visitor, LoadFailure.RESET);
    }
  }

  private void receive(SelectionKey key) {
    var visitor = (Visitor) key.attachment();
    if (visitor.isDone()) {
      return;
    }
    in.clear().limit(unanswered > 0 ? FIRST_READ_BYTES : READ_BYTES);
    int count;
    try {
      count = visitor.channel.read(in);
    } catch (IOException e) {
      leave(visitor, LoadFailure.RESET);
      return;
    }
    if (count < 0) {
      leave(visitor, LoadFailure.CLOSED);
    } else if (count > 0) {
      understand(visitor);
    }
  }

  private void understand(Visitor visitor) {
    if (visitor.firstNanos == NEVER) {
      visitor.firstNanos = elapsed();
      unanswered--;
    }
    in.flip();
    ResponseReader reader = visitor.reader;
    switch (reader.read(in)) {
      case MORE -> {
        if (reader.failure() != null || reader.contentRead() >= visitor.plan.leaveOctets()) {
          leave(visitor, reader.failure());
        }
      }
      case BROKEN -> leave(visitor, LoadFailure.MALFORMED);
      case COMPLETE ->
          leave(visitor, in.hasRemaining() ? LoadFailure.WRONG_LENGTH : reader.failure());
    }
  }

  /** Done, for whatever reason; says nothing if it already was. */
  private void leave(Visitor visitor, @Nullable LoadFailure failure) {
    if (visitor.isDone()) {
      return;
    }
    if (visitor.firstNanos == NEVER) {
      unanswered--;
    }
    visitor.doneNanos = elapsed();
    visitor.failure = failure;
    visitor.close();
    present--;
  }

  @Override
  public void close() throws IOException {
    visitors.forEach(Visitor::close);
    selector.close();
  }

  private static final class Visitor {

    private final SocketChannel channel;
    private final ResponseReader reader = new ResponseReader();
    private @Nullable LoadRequest request;
    private Plan plan = Plan.stay(0);
    private long sentNanos = NEVER;
    private long firstNanos = NEVER;
    private long doneNanos = NEVER;
    private @Nullable LoadFailure failure;

    private Visitor(SocketChannel channel, Selector selector) throws IOException {
      this.channel = channel;
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, this);
    }

    private void prepare(LoadRequest next, Plan asPlanned) {
      request = next;
      plan = asPlanned;
      reader.expect(next);
    }

    private void send() throws IOException {
      if (request == null) {
        throw new IllegalStateException("nothing to send");
      }
      ByteBuffer octets = request.octets(false);
      channel.write(octets);
      if (octets.hasRemaining()) {
        throw new IOException("the socket does not take a request");
      }
    }

    private boolean isDone() {
      return doneNanos != NEVER;
    }

    private Outcome outcome() {
      return new Outcome(sentNanos, firstNanos, doneNanos, failure);
    }

    private void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new IllegalStateException("closing a socket that does not block", e);
      }
    }
  }
}
