package io.kamille.launcher.appliance;

/** Why the appliance cannot start, in one sentence for the operator. */
public final class StartFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /** Whom to turn to. */
  public enum Cause {
    /** An address cannot be had. */
    ADDRESS,
    /** The system gives too little memory or too few descriptors. */
    SYSTEM,
    /** A file cannot be read or written. */
    FILE
  }

  private final Cause kind;

  /** A failure of that kind. */
  public StartFailure(Cause kind, String sentence) {
    super(sentence);
    this.kind = kind;
  }

  public Cause kind() {
    return kind;
  }
}
