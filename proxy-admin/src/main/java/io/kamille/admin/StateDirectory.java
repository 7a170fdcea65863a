package io.kamille.admin;

import java.nio.file.Path;

/** Where what outlives a process lies: tokens, versions of the configuration. */
public final class StateDirectory {

  /** What to say if it is not {@link #isKnown}. */
  public static final String UNKNOWN =
      "this user has no home directory: name a directory for state by STATE_DIRECTORY";

  /** What the JDK says then. */
  private static final String NO_HOME = "?";

  private StateDirectory() {}

  /** What systemd says, else a directory of the user's. */
  public static Path path() {
    String directory = named();
    return directory.isEmpty()
        ? Path.of(System.getProperty("user.home"), ".local", "state", "kamille")
        : Path.of(directory);
  }

  /** Whether there is one: a user without an entry and without HOME has no home directory. */
  public static boolean isKnown() {
    return !named().isEmpty() || !System.getProperty("user.home").equals(NO_HOME);
  }

  private static String named() {
    String directory = System.getenv("STATE_DIRECTORY");
    return directory == null ? "" : directory;
  }
}
