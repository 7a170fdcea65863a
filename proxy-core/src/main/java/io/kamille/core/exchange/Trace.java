package io.kamille.core.exchange;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * What is recorded of one exchange while it is on its way. Most exchanges have none. Confined to
 * the exchange's loop.
 */
public final class Trace {

  /** As many steps as a request with retries can have; later ones are left out. */
  static final int MOST_MARKS = 64;

  /** Why an exchange is recorded. */
  public enum Cause {
    /** Somebody asked for traces of such requests. */
    ASKED,
    /** It is one of the share that is recorded. */
    RATIO,
    /** The client, which is trusted in this, records it too. */
    PARENT;

    /** The word for it in the API. */
    public String token() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The identifiers of W3C trace-context, in hexadecimal.
   *
   * @param trace of the whole trace
   * @param parent of the client's span; empty if the trace begins here
   * @param span of the exchange
   * @param origin of the exchange with the origin, if there is one
   */
  public record Ids(String trace, String parent, String span, String origin) {}

  /**
   * One step.
   *
   * @param nanos when (monotonic)
   * @param detail a few words of ours, or a name from the configuration
   */
  public record Mark(TraceStep step, long nanos, String detail) {}

  private final Ids ids;
  private final Cause cause;
  private final LongSupplier nanoClock;
  private final List<Mark> marks = new ArrayList<>();

  /** A trace without any step. */
  public Trace(Ids ids, Cause cause, LongSupplier nanoClock) {
    this.ids = ids;
    this.cause = cause;
    this.nanoClock = nanoClock;
  }

  public Ids ids() {
    return ids;
  }

  public Cause cause() {
    return cause;
  }

  /** The exchange takes a step at this moment. */
  public void mark(TraceStep step, String detail) {
    if (marks.size() < MOST_MARKS) {
      marks.add(new Mark(step, nanoClock.getAsLong(), detail));
    }
  }

  /** A copy of the steps so far. */
  public List<Mark> marks() {
    return List.copyOf(marks);
  }
}
