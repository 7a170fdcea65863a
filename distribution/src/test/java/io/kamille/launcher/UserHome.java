package io.kamille.launcher;

/** A home directory for the state of this process, until it is closed. */
public final class UserHome implements AutoCloseable {

  private static final String PROPERTY = "user.home";

  private final String before = System.getProperty(PROPERTY);

  /** Sets it for all threads: tests of one process run one after the other. */
  public UserHome(String home) {
    System.setProperty(PROPERTY, home);
  }

  @Override
  public void close() {
    System.setProperty(PROPERTY, before);
  }
}
