package io.kamille.admin;

import java.nio.file.Path;

/** Where what outlives a process lies: tokens, versions of the configuration. */
public final class StateDirectory {

  private StateDirectory() {}

  /** What systemd says, else a directory of the user's. */
  public static Path path() {
    String directory = System.getenv("STATE_DIRECTORY");
    return directory != null && !directory.isEmpty()
        ? Path.of(directory)
        : Path.of(System.getProperty("user.home"), ".local", "state", "kamille");
  }
}
