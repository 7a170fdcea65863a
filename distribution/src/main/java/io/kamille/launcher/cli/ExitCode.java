package io.kamille.launcher.cli;

/** What the process says when it ends: the numbers of {@code sysexits.h}. */
public final class ExitCode {

  /** All went well; a running proxy was told to stop and did. */
  public static final int OK = 0;

  /** Words on the command line that mean nothing. */
  public static final int USAGE = 64;

  /** Content that is not what it should be, such as an audit log with a broken chain. */
  public static final int DATA = 65;

  /** A file that cannot be read or written. */
  public static final int UNREADABLE = 66;

  /**
   * Something needed is not there: an address that is taken, a JDK 25 (from {@code bin/kamille}).
   */
  public static final int UNAVAILABLE = 69;

  /** A fault of ours. */
  public static final int FAULT = 70;

  /** The system does not give what is needed: memory, file descriptors, native epoll. */
  public static final int SYSTEM = 71;

  /** A configuration with problems. */
  public static final int CONFIGURATION = 78;

  /** A second SIGTERM or SIGINT ended the process at once. */
  public static final int SIGNAL = 130;

  private ExitCode() {}
}
