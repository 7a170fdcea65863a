package io.kamille.core.gate;

/** What late loops shed, as a test commands; else as the law of the product says. Any thread. */
public final class CommandedLaw {

  /** What is shed. */
  public enum Command {
    NOTHING,
    FORWARDS,
    EVERYTHING,
    BY_LAW
  }

  private volatile Command command = Command.BY_LAW;

  /** From now on. */
  public void shed(Command next) {
    command = next;
  }

  /** A loop's. */
  public SheddingLaw at(long targetNanos, long nowNanos) {
    return new Obedient(new OverloadLaw(targetNanos, nowNanos));
  }

  private final class Obedient implements SheddingLaw {

    private final OverloadLaw law;

    private Obedient(OverloadLaw law) {
      this.law = law;
    }

    @Override
    public boolean sheds(long latenessNanos) {
      return switch (command) {
        case NOTHING, FORWARDS -> false;
        case EVERYTHING -> true;
        case BY_LAW -> law.sheds(latenessNanos);
      };
    }

    @Override
    public boolean shedsForward(long latenessNanos) {
      return switch (command) {
        case NOTHING -> false;
        case FORWARDS, EVERYTHING -> true;
        case BY_LAW -> law.shedsForward(latenessNanos);
      };
    }

    @Override
    public boolean turn(long nowNanos, long lengthNanos) {
      return law.turn(nowNanos, lengthNanos);
    }

    @Override
    public void unread(long nowNanos, long sinceNanos) {
      law.unread(nowNanos, sinceNanos);
    }
  }
}
