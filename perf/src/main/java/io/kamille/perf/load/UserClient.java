package io.kamille.perf.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Many users, each with a persistent connection of its own, who want something when they do,
 * whether or not the server keeps up ({@link Users}). Confined to one thread, which it keeps busy
 * from the beginning of a run to its end.
 */
public final class UserClient implements AutoCloseable {

  /*
   * As OpenLoopClient, but for whose turn it is: there a request takes any connection that is idle,
   * here it belongs to a user.
   */

  private static final int READ_BYTES = 256 * 1024;
  private static final int SERVICE_UNAVAILABLE = 503;
  private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();

  private final LoadSettings settings;
  private final LongSupplier clock;
  private final Selector selector;
  private final List<LoadConnection> connections = new ArrayList<>();
  private final boolean[] isForwarded;
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final Consumer<SelectionKey> whenReady = this::ready;

  private @Nullable Run run;

  /**
   * What users want.
   *
   * @param stored that the server has stored
   * @param forwarded that it has to ask the origin for
   * @param forwardedShare how much of all is of the second kind, 0 to 1
   */
  public record Wants(LoadRequest stored, LoadRequest forwarded, double forwardedShare) {}

  /**
   * One run.
   *
   * @param settling at its beginning, of which nothing is counted
   * @param areRude whether users do not wait when the server asks them to
   * @param seed of who wants what
   */
  public record Settings(Wants wants, Duration settling, boolean areRude, long seed) {}

  /** Is told, on the client's thread, when what counts begins and when it is over. */
  public interface Marks {
    /** It begins. */
    void begin() throws IOException;

    /** It is over. */
    void end() throws IOException;

    /** Nobody. */
    Marks NONE =
        new Marks() {
          @Override
          public void begin() {}

          @Override
          public void end() {}
        };
  }

  private static final class Run {

    private final Arrivals arrivals;
    private final Wants wants;
    private final SplittableRandom random;
    private final UserTally tally;
    private final Users users;
    private long beginNanos;
    private long nextNanos;

    private Run(Arrivals arrivals, Settings settings, LoadSettings load) {
      this.arrivals = arrivals;
      this.wants = settings.wants();
      this.random = new SplittableRandom(settings.seed());
      this.tally = new UserTally(settings.settling().toNanos(), arrivals.durationNanos());
      this.users =
          new Users(load.connections(), settings.areRude(), load.timeLimit().toNanos(), tally);
      this.nextNanos = arrivals.next();
    }
  }

  private UserClient(LoadSettings settings, LongSupplier clock) throws IOException {
    this.settings = settings;
    this.clock = clock;
    this.selector = Selector.open();
    this.isForwarded = new boolean[settings.connections()];
  }

  /**
   * Opens a connection for each user.
   *
   * @param settings {@code connections} is how many users there are
   * @throws IOException if one cannot be had
   */
  public static UserClient open(LoadSettings settings) throws IOException {
    return open(settings, System::nanoTime);
  }

  /** With another clock, which the client reads at least once a turn. */
  static UserClient open(LoadSettings settings, LongSupplier clock) throws IOException {
    var client = new UserClient(settings, clock);
    try {
      for (int i = 0; i < settings.connections(); i++) {
        var connection = new LoadConnection(settings, client.selector, i);
        client.connections.add(connection);
        connection.open();
      }
      return client;
    } catch (IOException e) {
      String which = "connection " + client.connections.size() + " of " + settings.connections();
      client.close();
      throw new IOException(which + " to " + settings.server() + ": " + e.getMessage(), e);
    }
  }

  /** Lets users want things at these times and waits until the last one knows what came of it. */
  public UserResult run(Arrivals arrivals, Settings how, Marks marks) throws IOException {
    reopen();
    var current = new Run(arrivals, how, settings);
    run = current;
    long begin = how.settling().toNanos();
    long end = arrivals.durationNanos();
    boolean hasBegun = false;
    boolean hasEnded = false;
    long nextLook = LOOK_NANOS;
    long idleNanos = 0;
    current.beginNanos = clock.getAsLong();
    long now = 0;
    while (!hasEnded || current.nextNanos != Arrivals.NONE || current.users.busy() > 0) {
      int done = sendDue(current, now) + selector.selectNow(whenReady);
      if (!hasBegun && now >= begin) {
        hasBegun = true;
        marks.begin();
      }
      if (!hasEnded && now >= end) {
        hasEnded = true;
        marks.end();
      }
      if (now >= nextLook) {
        expire(current, now);
        nextLook = now + LOOK_NANOS;
      }
      long turnBegan = now;
      now = elapsed(current);
      if (done == 0) {
        idleNanos += now - turnBegan;
        settings.idle().run();
      }
    }
    run = null;
    return current.tally.result(1 - (double) idleNanos / now);
  }

  /** Connections that an earlier run lost: opening them all is no part of this one. */
  private void reopen() throws IOException {
    for (LoadConnection connection : connections) {
      if (!connection.isOpen()) {
        connection.open();
      }
    }
  }

  private long elapsed(Run current) {
    return clock.getAsLong() - current.beginNanos;
  }

  private int sendDue(Run current, long nanos) {
    int count = 0;
    for (long now = nanos; current.nextNanos <= now; now = elapsed(current)) {
      long intended = current.nextNanos;
      current.nextNanos = current.arrivals.next();
      current.tally.noticed(intended, now);
      int user = current.random.nextInt(current.users.count());
      send(current, user, current.users.want(user, intended));
      count++;
    }
    return count;
  }

  /** Sends what that user wants next, if there is something, until it works. */
  private void send(Run current, int user, boolean hasNext) {
    LoadConnection connection = connections.get(user);
    boolean isWanted = hasNext;
    while (isWanted) {
      isWanted = !write(current, connection) && current.users.failed(user);
    }
  }

  private boolean write(Run current, LoadConnection connection) {
    int user = connection.number();
    Wants wants = current.wants;
    isForwarded[user] = current.random.nextDouble() < wants.forwardedShare();
    long intended = current.users.intendedNanos(user);
    connection.take(isForwarded[user] ? wants.forwarded() : wants.stored(), intended, intended);
    try {
      if (connection.isOpen()) {
        connection.write();
      } else {
        connection.beginOpen();
      }
      return true;
    } catch (IOException e) {
      drop(connection);
      return false;
    }
  }

  private static void drop(LoadConnection connection) {
    connection.close();
    connection.finish();
  }

  private void ready(SelectionKey key) {
    var connection = (LoadConnection) key.attachment();
    if (!connection.isAt(key)) {
      return;
    }
    Run current = run;
    if (current == null) {
      throw new IllegalStateException("nothing runs");
    }
    try {
      if (connection.isConnecting()) {
        connection.finishOpen();
        connection.write();
      } else {
        receive(current, connection);
      }
    } catch (IOException e) {
      lose(current, connection);
    }
    sendDue(current, elapsed(current));
  }

  private void receive(Run current, LoadConnection connection) throws IOException {
    in.clear();
    int count = connection.read(in);
    if (count < 0 || (count > 0 && !connection.isBusy())) {
      lose(current, connection);
    } else if (count > 0) {
      in.flip();
      understand(current, connection);
    }
  }

  private void understand(Run current, LoadConnection connection) {
    ResponseReader reader = connection.reader();
    ResponseReader.Progress progress = reader.read(in);
    if (progress == ResponseReader.Progress.MORE) {
      return;
    }
    if (progress == ResponseReader.Progress.BROKEN || in.hasRemaining()) {
      lose(current, connection);
      return;
    }
    if (reader.isLast() || connection.isLastUse()) {
      connection.close();
    }
    connection.finish();
    int user = connection.number();
    send(current, user, ended(current, user, reader));
  }

  private boolean ended(Run current, int user, ResponseReader reader) {
    if (reader.failure() == null) {
      return current.users.answered(user, elapsed(current), isForwarded[user]);
    }
    return reader.status() == SERVICE_UNAVAILABLE
        ? current.users.shed(user, elapsed(current), reader.retryAfterSeconds())
        : current.users.failed(user);
  }

  /** The connection is of no more use; the next request opens another one. */
  private void lose(Run current, LoadConnection connection) {
    boolean wasBusy = connection.isBusy();
    drop(connection);
    if (wasBusy) {
      send(current, connection.number(), current.users.failed(connection.number()));
    }
  }

  private void expire(Run current, long nanos) {
    for (LoadConnection connection : connections) {
      int user = connection.number();
      current.users.giveUpWaiting(user, nanos);
      if (current.users.isOverdue(user, nanos)) {
        drop(connection);
        send(current, user, current.users.timedOut(user));
      }
    }
  }

  @Override
  public void close() throws IOException {
    connections.forEach(LoadConnection::close);
    selector.close();
  }
}
