package io.kamille.perf.load;

import java.io.IOException;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Many users, each with a persistent connection of its own, who want something when they do,
 * whether or not the server keeps up ({@link Users}). For one run.
 */
public final class UserDemand extends Demand {

  private static final int SERVICE_UNAVAILABLE = 503;
  private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();

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

  private final Arrivals arrivals;
  private final Settings how;
  private final Marks marks;
  private final SplittableRandom random;
  private final UserTally tally;
  private final Users users;
  private final boolean[] isForwarded;
  private final boolean[] hasNext;
  private boolean hasBegun;
  private boolean hasEnded;
  private long nextLook = LOOK_NANOS;
  private long nextNanos;

  private UserDemand(Arrivals arrivals, Settings how, Marks marks, LoadSettings load) {
    this.arrivals = arrivals;
    this.how = how;
    this.marks = marks;
    this.random = new SplittableRandom(how.seed());
    this.tally = new UserTally(how.settling().toNanos(), arrivals.durationNanos());
    this.users = new Users(load.connections(), how.areRude(), load.timeLimit().toNanos(), tally);
    this.isForwarded = new boolean[load.connections()];
    this.hasNext = new boolean[load.connections()];
    this.nextNanos = arrivals.next();
  }

  /**
   * Lets users want things at these times and waits until the last one knows what came of it.
   *
   * @param client with a connection for each user
   */
  public static UserResult run(LoadClient client, Arrivals arrivals, Settings how, Marks marks)
      throws IOException {
    var demand = new UserDemand(arrivals, how, marks, client.settings());
    LoadClient.Took took = client.run(demand);
    return demand.tally.result(1 - (double) took.idleNanos() / took.nanos());
  }

  /** Connections that an earlier run lost: opening them all is no part of this one. */
  @Override
  void begin(LoadClient client) throws IOException {
    for (LoadConnection connection : client.connections()) {
      if (!connection.isOpen()) {
        connection.open();
      }
    }
  }

  @Override
  boolean isOver() {
    return hasEnded && nextNanos == Arrivals.NONE && users.busy() == 0;
  }

  @Override
  int send(LoadClient client, long nanos) {
    int count = 0;
    for (long now = nanos; nextNanos <= now; now = client.elapsed()) {
      long intended = nextNanos;
      nextNanos = arrivals.next();
      tally.noticed(intended, now);
      int user = random.nextInt(users.count());
      hasNext[user] = users.want(user, intended);
      free(client, client.connections().get(user));
      count++;
    }
    return count;
  }

  /** Sends what the connection's user wants next, if there is something, until it works. */
  @Override
  void free(LoadClient client, LoadConnection connection) {
    int user = connection.number();
    while (hasNext[user]) {
      Wants wants = how.wants();
      isForwarded[user] = random.nextDouble() < wants.forwardedShare();
      LoadRequest request = isForwarded[user] ? wants.forwarded() : wants.stored();
      long intended = users.intendedNanos(user);
      hasNext[user] = false;
      if (client.send(connection, request, intended, intended) != null) {
        LoadClient.drop(connection);
        hasNext[user] = users.failed(user);
      }
    }
  }

  @Override
  void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure) {
    int user = connection.number();
    ResponseReader reader = connection.reader();
    if (failure == null) {
      hasNext[user] = users.answered(user, client.elapsed(), isForwarded[user]);
    } else if (failure == LoadFailure.WRONG_STATUS && reader.status() == SERVICE_UNAVAILABLE) {
      hasNext[user] = users.shed(user, client.elapsed(), reader.retryAfterSeconds());
    } else {
      hasNext[user] = users.failed(user);
    }
  }

  @Override
  void look(LoadClient client, long nanos) throws IOException {
    if (!hasBegun && nanos >= how.settling().toNanos()) {
      hasBegun = true;
      marks.begin();
    }
    if (!hasEnded && nanos >= arrivals.durationNanos()) {
      hasEnded = true;
      marks.end();
    }
    if (nanos < nextLook) {
      return;
    }
    nextLook = nanos + LOOK_NANOS;
    for (LoadConnection connection : client.connections()) {
      int user = connection.number();
      users.giveUpWaiting(user, nanos);
      if (users.isOverdue(user, nanos)) {
        LoadClient.drop(connection);
        hasNext[user] = users.timedOut(user);
        free(client, connection);
      }
    }
  }
}
