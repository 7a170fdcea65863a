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
  public OverloadLaw at(long targetNanos, long nowNanos) {
    return new Obedient(targetNanos, nowNanos);
  }

  private final class Obedient extends OverloadLaw {

    private Obedient(long targetNanos, long nowNanos) {
      super(targetNanos, nowNanos);
    }

    @Override
    public boolean sheds(long latenessNanos) {
      return switch (command) {
        case NOTHING, FORWARDS -> false;
        case EVERYTHING -> true;
        case BY_LAW -> super.sheds(latenessNanos);
      };
    }

    @Override
    public boolean shedsForward(long latenessNanos) {
      return switch (command) {
        case NOTHING -> false;
        case FORWARDS, EVERYTHING -> true;
        case BY_LAW -> super.shedsForward(latenessNanos);
      };
    }
  }
}
