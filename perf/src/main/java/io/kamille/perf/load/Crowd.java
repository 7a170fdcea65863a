package io.kamille.perf.load;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Many clients with a connection each that ask for one thing at about the same time, once. */
public final class Crowd extends Demand {

  /*
   * It waits in the selector, so that an origin on the same core can work. While somebody still
   * waits for a first octet, little is read at once from those who have theirs: nobody's first
   * octet is noticed late because of somebody else's content.
   */

  /** Never, or after no amount. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final int FIRST_READ_BYTES = 4 * 1024;

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

  private static final class Visitor {

    private final Plan plan;
    private final LoadConnection connection;
    private final LoadRequest request;
    private long sentNanos = NEVER;
    private long firstNanos = NEVER;
    private long doneNanos = NEVER;
    private @Nullable LoadFailure failure;

    private Visitor(Plan plan, LoadConnection connection, LoadRequest request) {
      this.plan = plan;
      this.connection = connection;
      this.request = request;
    }

    private boolean isDone() {
      return doneNanos != NEVER;
    }

    private Outcome outcome() {
      return new Outcome(sentNanos, firstNanos, doneNanos, failure);
    }
  }

  private final List<Visitor> visitors = new ArrayList<>();
  private final List<Visitor> toSend;
  private final List<Visitor> toLeave;
  private final long limitNanos;
  private int sent;
  private int left;
  private int unanswered;
  private int present;

  private Crowd(
      LoadClient client, Supplier<LoadRequest> requests, List<Plan> plans, Duration limit) {
    for (int i = 0; i < plans.size(); i++) {
      visitors.add(new Visitor(plans.get(i), client.connections().get(i), requests.get()));
    }
    this.toSend = inOrder(visitor -> visitor.plan.sendNanos());
    this.toLeave = inOrder(visitor -> visitor.plan.leaveNanos());
    this.limitNanos = limit.toNanos();
    this.present = plans.size();
    this.unanswered = plans.size();
  }

  private List<Visitor> inOrder(ToLongFunction<Visitor> when) {
    return visitors.stream().sorted(Comparator.comparingLong(when)).toList();
  }

  /**
   * Lets all of them ask, once, and waits until the last one is done.
   *
   * @param client with a connection for each, all of which are closed then
   * @param requests one for each, alike
   * @param plans one for each
   * @param limit after which whoever is left gives up
   */
  public static List<Outcome> ask(
      LoadClient client, Supplier<LoadRequest> requests, List<Plan> plans, Duration limit)
      throws IOException {
    var crowd = new Crowd(client, requests, plans, limit);
    client.run(crowd);
    return crowd.visitors.stream().map(Visitor::outcome).toList();
  }

  @Override
  boolean isOver() {
    return present == 0;
  }

  @Override
  boolean isObserving() {
    return true;
  }

  @Override
  int readLimit(int capacity) {
    return unanswered > 0 ? FIRST_READ_BYTES : capacity;
  }

  @Override
  long sleepNanos(long nanos) {
    if (present == 0) {
      return 0;
    }
    long next =
        Math.min(
            sent < toSend.size() ? toSend.get(sent).plan.sendNanos() : NEVER,
            left < toLeave.size() ? toLeave.get(left).plan.leaveNanos() : NEVER);
    return Math.max(0, Math.min(next, limitNanos) - nanos);
  }

  @Override
  int send(LoadClient client, long nanos) {
    long now = nanos;
    int before = sent;
    while (sent < toSend.size() && toSend.get(sent).plan.sendNanos() <= now) {
      Visitor visitor = toSend.get(sent++);
      if (!visitor.isDone()) {
        visitor.sentNanos = now;
        LoadFailure failure = client.send(visitor.connection, visitor.request, now, now);
        if (failure != null) {
          leave(client, visitor, failure);
        }
      }
      now = client.elapsed();
    }
    return sent - before;
  }

  @Override
  void look(LoadClient client, long nanos) {
    while (left < toLeave.size() && toLeave.get(left).plan.leaveNanos() <= nanos) {
      leave(client, toLeave.get(left++), null);
    }
    if (nanos >= limitNanos) {
      visitors.forEach(visitor -> leave(client, visitor, LoadFailure.TIME_OUT));
    }
  }

  @Override
  void received(LoadClient client, LoadConnection connection) {
    Visitor visitor = visitors.get(connection.number());
    noticeFirst(visitor);
    ResponseReader reader = connection.reader();
    if (reader.failure() != null || reader.contentRead() >= visitor.plan.leaveOctets()) {
      leave(client, visitor, reader.failure());
    }
  }

  private void noticeFirst(Visitor visitor) {
    if (visitor.firstNanos == NEVER && visitor.connection.firstNanos() > 0) {
      visitor.firstNanos = visitor.connection.firstNanos();
      unanswered--;
    }
  }

  @Override
  void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure) {
    Visitor visitor = visitors.get(connection.number());
    noticeFirst(visitor);
    leave(client, visitor, failure);
  }

  /** Done, for whatever reason; says nothing if it already was. */
  private void leave(LoadClient client, Visitor visitor, @Nullable LoadFailure failure) {
    if (visitor.isDone()) {
      return;
    }
    if (visitor.firstNanos == NEVER) {
      unanswered--;
    }
    visitor.doneNanos = client.elapsed();
    visitor.failure = failure;
    LoadClient.drop(visitor.connection);
    present--;
  }

  @Override
  void free(LoadClient client, LoadConnection connection) {}
}
