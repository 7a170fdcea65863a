package io.kamille.launcher.doctor;

/**
 * One thing that was looked at.
 *
 * @param found its value
 * @param advice what to change, and why; empty if it is well
 */
public record Finding(String subject, String found, String advice) {

  static Finding well(String subject, String found) {
    return new Finding(subject, found, "");
  }

  /** Whether nothing is to be changed. */
  public boolean isWell() {
    return advice.isEmpty();
  }

  @Override
  public String toString() {
    return (isWell() ? "ok      " : "change  ")
        + subject
        + ": "
        + found
        + (isWell() ? "" : ". " + advice);
  }
}
