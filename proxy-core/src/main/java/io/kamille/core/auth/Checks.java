package io.kamille.core.auth;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Checks of credentials that wait for a thread. Any thread. */
final class Checks implements AutoCloseable {

  /*
   * Requests that ask the same wait for one check: a page of a hundred parts costs one password.
   *
   * Clients take turns. Before all others come those who gave a right password under the same name
   * lately. If all places are taken, the client with most checks gives up its last one: a guesser
   * keeps out itself.
   */
  private static final int MOST_KNOWN = 4096;
  private static final int IPV6_PREFIX_OCTETS = 8;

  private final ExecutorService threads;
  private final int places;

  @GuardedBy("this")
  private final Map<ByteBuffer, Check> pending = new HashMap<>();

  @GuardedBy("this")
  private final Map<Object, Deque<Check>> first = new LinkedHashMap<>();

  @GuardedBy("this")
  private final Map<Object, Deque<Check>> others = new LinkedHashMap<>();

  @GuardedBy("this")
  private final Map<Object, Boolean> known = new LinkedHashMap<>();

  @GuardedBy("this")
  private int waiting;

  /** Threads without work. */
  @GuardedBy("this")
  private int idle;

  Checks(int threads, int places, String name) {
    this.idle = threads;
    this.threads = Executors.newFixedThreadPool(threads, new DefaultThreadFactory(name, true));
    this.places = places;
  }

  /** Who asks: the address of a client (IPv6 by its /64), and the name that it gives. */
  record Asker(ByteBuffer client, String name) {

    static Asker of(@Nullable InetAddress address, String name) {
      byte[] octets = address == null ? new byte[0] : address.getAddress();
      int length = Math.min(octets.length, IPV6_PREFIX_OCTETS);
      return new Asker(ByteBuffer.wrap(octets, 0, length), name);
    }
  }

  /** One check, for all who ask the same. */
  final class Check {

    private final ByteBuffer question;
    private final ByteBuffer client;
    private final boolean goesFirst;
    private final Supplier<Found> work;
    private final CompletableFuture<Found> found = new CompletableFuture<>();

    // Guarded by the checks of which it is one.
    private int askers = 1;

    private Check(ByteBuffer question, ByteBuffer client, boolean goesFirst, Supplier<Found> work) {
      this.question = question;
      this.client = client;
      this.goesFirst = goesFirst;
      this.work = work;
    }

    /** What it finds; ends with {@link RejectedExecutionException} if it got no place. */
    CompletableFuture<Found> found() {
      return found;
    }

    /** One of those who asked is gone. If all are, a check that has not begun is dropped. */
    void leave() {
      synchronized (Checks.this) {
        askers--;
        if (askers == 0) {
          drop(this);
        }
      }
    }
  }

  /**
   * Asks; each asker that wants no answer any more leaves.
   *
   * @param digest of the question
   */
  Check ask(byte[] digest, Asker asker, Supplier<Found> work) {
    Check check;
    Check refused;
    synchronized (this) {
      ByteBuffer question = ByteBuffer.wrap(digest);
      Check same = pending.get(question);
      if (same != null) {
        same.askers++;
        return same;
      }
      check = new Check(question, asker.client(), known.containsKey(asker), work);
      refused = waiting < places ? null : leastDue(check);
      if (refused != check) {
        if (refused != null) {
          drop(refused);
        }
        pending.put(question, check);
        lane(check.goesFirst).computeIfAbsent(check.client, _ -> new ArrayDeque<>()).add(check);
        waiting++;
        if (idle > 0) {
          idle--;
          threads.execute(this::runAll);
        }
      }
    }
    if (refused != null) {
      refused.found.completeExceptionally(new RejectedExecutionException());
    }
    return check;
  }

  /** That asker gave the right credentials. */
  synchronized void passed(Asker asker) {
    known.remove(asker);
    known.put(asker, true);
    if (known.size() > MOST_KNOWN) {
      known.remove(known.keySet().iterator().next());
    }
  }

  /** Which check has no place beside this one, which may be itself. */
  @GuardedBy("this")
  private Check leastDue(Check next) {
    if (next.goesFirst && !others.isEmpty()) {
      return most(others).getLast();
    }
    Map<Object, Deque<Check>> lane = lane(next.goesFirst);
    Deque<Check> own = lane.get(next.client);
    Deque<Check> most = most(lane);
    return most.size() > (own == null ? 0 : own.size()) + 1 ? most.getLast() : next;
  }

  private static Deque<Check> most(Map<Object, Deque<Check>> lane) {
    Deque<Check> most = new ArrayDeque<>();
    for (Deque<Check> each : lane.values()) {
      most = each.size() > most.size() ? each : most;
    }
    return most;
  }

  @GuardedBy("this")
  private Map<Object, Deque<Check>> lane(boolean goesFirst) {
    return goesFirst ? first : others;
  }

  @GuardedBy("this")
  private void drop(Check check) {
    if (take(check)) {
      pending.remove(check.question);
    }
  }

  /** Whether it waited. Its client is the last one in turn from now on. */
  @CanIgnoreReturnValue
  @GuardedBy("this")
  private boolean take(Check check) {
    Map<Object, Deque<Check>> lane = lane(check.goesFirst);
    Deque<Check> own = lane.remove(check.client);
    boolean isTaken = own != null && own.remove(check);
    waiting -= isTaken ? 1 : 0;
    if (own != null && !own.isEmpty()) {
      lane.put(check.client, own);
    }
    return isTaken;
  }

  /** The next one in turn, whose client is the last one from now on; null ends the work. */
  private synchronized @Nullable Check next() {
    Map<Object, Deque<Check>> lane = first.isEmpty() ? others : first;
    if (lane.isEmpty()) {
      idle++;
      return null;
    }
    Check next = lane.values().iterator().next().getFirst();
    take(next);
    return next;
  }

  private void runAll() {
    for (Check check = next(); check != null; check = next()) {
      run(check);
    }
  }

  private void run(Check check) {
    Found found = null;
    Throwable bug = null;
    try {
      found = check.work.get();
    } catch (RuntimeException | Error thrown) {
      bug = thrown;
    }
    synchronized (this) {
      pending.remove(check.question);
    }
    if (bug == null) {
      check.found.complete(found);
    } else {
      check.found.completeExceptionally(bug);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
