package io.kamille.cluster.current;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Until when this node may serve what it has stored, because it has missed no purge. Any thread;
 * reading {@link #untilNanos} never waits.
 */
public final class Currentness {

  /*
   * A purge that was answered is in the logs of a majority of the voters. Any two majorities share
   * a voter. So a node has missed none that was answered before a moment, if a majority has said
   * after that moment how far their logs go, and it has applied all that.
   *
   * After that moment: by our own clock alone. Each report has a number, and each node says which
   * of our reports it has heard last. Whatever it says was so after we sent that one. How long its
   * report was on its way, and what its clock says, does not matter.
   *
   *     us     report 7 at 100 s ───────►  b
   *     b      "heard 7, log up to 41" ──►  us, at 103 s
   *     us     applied 41 at 104 s: of b we know all up to 100 s
   *
   * The node is current for that long after the latest moment up to which a majority is known.
   *
   * A report is made in this order: what was heard, then how far the log goes. Between the two a
   * process may stand still for long. Of two things that a voter has said, the later one with the
   * shorter log says more: entries that were not agreed upon may be replaced.
   *
   * Our clock stands still while the machine is suspended. The wall clock jumps then, or is set
   * forward by hand, which looks alike. What was sent before counts no more: an answer to the next
   * report is soon there, and until then the origin is asked.
   */
  private static final int REMEMBERED = 64;
  private static final int JUMPS_PER_LENGTH = 5;

  private final String own;
  private final List<String> voters;
  private final long lengthNanos;
  private long lastNumber;
  private long wallAheadNanos = Long.MAX_VALUE / 2;
  private final Map<Long, Long> sent =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > REMEMBERED;
        }
      };
  private final Map<String, Voter> known = new HashMap<>();
  private final Map<String, Long> heard = new HashMap<>();
  private volatile long untilNanos;

  /** What one voter has said. */
  private static final class Voter {

    private record Said(long sinceNanos, long appended) {}

    private final Deque<Said> notApplied = new ArrayDeque<>();
    private @Nullable Long knownNanos;

    void said(long sinceNanos, long appended) {
      if (!notApplied.isEmpty() && sinceNanos - notApplied.getLast().sinceNanos() < 0) {
        return;
      }
      while (!notApplied.isEmpty() && notApplied.getLast().appended() >= appended) {
        notApplied.removeLast();
      }
      if (notApplied.size() < REMEMBERED) {
        notApplied.addLast(new Said(sinceNanos, appended));
      }
    }

    void applied(long applied) {
      while (!notApplied.isEmpty() && notApplied.getFirst().appended() <= applied) {
        knownNanos = notApplied.removeFirst().sinceNanos();
      }
    }
  }

  /**
   * Of a node that is not current yet.
   *
   * @param own the name of this node
   * @param voters whose majority decides
   * @param lengthNanos how long a node is current that hears nothing more
   * @param incarnation a number that no earlier process of this node had
   * @param nowNanos monotonic, as all times here
   */
  public Currentness(
      String own, List<String> voters, long lengthNanos, long incarnation, long nowNanos) {
    this.own = own;
    this.voters = List.copyOf(voters);
    this.lengthNanos = lengthNanos;
    this.lastNumber = incarnation;
    this.untilNanos = nowNanos - 1;
  }

  /** Until when, by a monotonic clock. */
  public long untilNanos() {
    return untilNanos;
  }

  /** Ends if the wall clock has jumped since the last call; whether it has. */
  public synchronized boolean endIfClockJumped(long nowNanos, long wallNanos) {
    long ahead = wallNanos - nowNanos;
    boolean hasJumped = ahead - wallAheadNanos >= lengthNanos / JUMPS_PER_LENGTH;
    wallAheadNanos = ahead;
    if (hasJumped) {
      sent.clear();
      known.clear();
      untilNanos = nowNanos - 1;
    }
    return hasJumped;
  }

  /** The number of a report that is sent now. */
  public synchronized long sends(long nowNanos) {
    sent.put(++lastNumber, nowNanos);
    return lastNumber;
  }

  /** The last report of each other node that was heard. */
  public synchronized Map<String, Long> heard() {
    return Map.copyOf(heard);
  }

  /** Forgets what others have said than these. */
  public synchronized void keep(List<String> members) {
    heard.keySet().retainAll(members);
  }

  /** Takes a report, our own too. */
  public synchronized void heard(String node, Report report) {
    heard.put(node, report.number());
    Long sinceNanos =
        sent.get(node.equals(own) ? report.number() : report.heard().getOrDefault(own, 0L));
    if (sinceNanos != null && voters.contains(node)) {
      known.computeIfAbsent(node, _ -> new Voter()).said(sinceNanos, report.appended());
    }
  }

  /** The entries of the log up to that one are applied here. */
  public synchronized void applied(long applied) {
    List<Long> moments = new ArrayList<>();
    for (Voter voter : known.values()) {
      voter.applied(applied);
      if (voter.knownNanos != null) {
        moments.add(voter.knownNanos);
      }
    }
    int majority = voters.size() / 2 + 1;
    if (moments.size() >= majority) {
      moments.sort((one, other) -> Long.signum(other - one));
      untilNanos = moments.get(majority - 1) + lengthNanos;
    }
  }
}
