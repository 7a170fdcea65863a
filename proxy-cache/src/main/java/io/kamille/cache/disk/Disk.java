package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.file.Path;

/** Where the directories of stores lie. Any thread. */
@FunctionalInterface
public interface Disk {

  /** The disks that the system has mounted. */
  static Disk ofSystem() {
    return FileDirectory::open;
  }

  /**
   * Opens a directory for one store, and makes it if it is not there.
   *
   * @throws IOException if it is none and cannot be made, is somebody else's, or is used by another
   *     process
   */
  StoreDirectory open(Path path) throws IOException;
}
