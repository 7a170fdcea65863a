package io.kamille.cache.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How large the pages are that a host gives to the memory of the cache. Any thread. */
public final class Folios {

  /** The switch of the host, below its root: {@code advise} is enough. */
  public static final String SWITCH =
      "sys/kernel/mm/transparent_hugepage/hugepages-64kB/shmem_enabled";

  private static final String SWITCH_OF_ALL = "sys/kernel/mm/transparent_hugepage/shmem_enabled";
  private static final int PAGE_BYTES = 4096;

  private Folios() {}

  /**
   * Octets of a page: a whole slab if the host allows it.
   *
   * @param root the directory that holds {@code sys}, usually {@code /}
   */
  public static int bytes(Path root) {
    String chosen = chosen(root.resolve(SWITCH));
    String counts = chosen.equals("inherit") ? chosen(root.resolve(SWITCH_OF_ALL)) : chosen;
    return switch (counts) {
      case "", "never", "deny" -> PAGE_BYTES;
      default -> Slab.BYTES;
    };
  }

  /** The word in brackets; empty if the kernel has no such switch. */
  private static String chosen(Path file) {
    try {
      return Files.readString(file).replaceFirst("(?s).*\\[(\\w+)].*|.*", "$1");
    } catch (IOException none) {
      return "";
    }
  }
}
