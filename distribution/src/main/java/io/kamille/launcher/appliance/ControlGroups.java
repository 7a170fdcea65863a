package io.kamille.launcher.appliance;

import io.kamille.launcher.doctor.KernelFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the control groups of this process, and those around them, leave to it. */
final class ControlGroups {

  /*
   * Version 2 has one tree, version 1 one for each controller. A line of /proc/self/cgroup says
   * where we are in it: ID:CONTROLLERS:PATH, without controllers for version 2. In a container, the
   * path may be the host's, and what is mounted is our own group. Each limit on the way up holds.
   */
  private static final long KIB = 1024;

  /** Without a limit, version 1 names one that no machine has. */
  private static final long NO_LIMIT = 1L << 60;

  private final Path proc;
  private final Path mounted;

  /** Those that are described there, usually in {@code /proc} and {@code /sys/fs/cgroup}. */
  ControlGroups(Path proc, Path mounted) {
    this.proc = proc;
    this.mounted = mounted;
  }

  /** The octets that this process may have, with those that it has; MAX_VALUE without a limit. */
  long memoryBytes() {
    Path status = proc.resolve("self/status");
    long own = KIB * (KernelFile.field(status, "RssAnon:") + KernelFile.field(status, "RssShmem:"));
    return around("memory").mapToLong(group -> memory(group, own)).min().orElse(Long.MAX_VALUE);
  }

  private static long memory(Path group, long own) {
    long limit =
        Stream.of("memory.max", "memory.high", "memory.limit_in_bytes")
            .mapToLong(name -> number(group.resolve(name), Long.MAX_VALUE))
            .min()
            .orElse(Long.MAX_VALUE);
    if (limit >= NO_LIMIT) {
      return Long.MAX_VALUE;
    }
    // The kernel takes back what it keeps of files. Version 1 has sums under names of their own.
    Path stat = group.resolve("memory.stat");
    String sum = Files.exists(group.resolve("memory.limit_in_bytes")) ? "total_" : "";
    long files =
        KernelFile.field(stat, sum + "inactive_file") + KernelFile.field(stat, sum + "active_file");
    long now = number(group.resolve("memory.current"), 0);
    long used = number(group.resolve("memory.usage_in_bytes"), now);
    return limit - Math.max(0, used - files - own);
  }

  /** The threads that may begin; without a limit, more than there can be. */
  long threads() {
    return around("pids")
        .mapToLong(
            group ->
                number(group.resolve("pids.max"), Long.MAX_VALUE)
                    - number(group.resolve("pids.current"), 0))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Our groups that have this controller, the innermost first. */
  private Stream<Path> around(String controller) {
    List<Path> groups = new ArrayList<>();
    for (String line : KernelFile.lines(proc.resolve("self/cgroup"))) {
      String[] parts = line.split(":", 3);
      boolean isUnified = parts.length == 3 && parts[1].isEmpty();
      if (parts.length == 3 && (isUnified || List.of(parts[1].split(",")).contains(controller))) {
        Path tree = isUnified ? mounted : mounted.resolve(controller);
        // What is mounted may begin anywhere on that path.
        String below = parts[2].substring(1);
        while (!below.isEmpty() && !Files.isDirectory(tree.resolve(below))) {
          below = below.contains("/") ? below.substring(below.indexOf('/') + 1) : "";
        }
        Path group = tree.resolve(below).normalize();
        for (Path each = group; each != null && each.startsWith(tree); each = each.getParent()) {
          groups.add(each);
        }
      }
    }
    return groups.stream();
  }

  /** What a file says that has one number; what it cannot say is {@code otherwise}. */
  private static long number(Path file, long otherwise) {
    String text = KernelFile.text(file);
    return text.matches("[0-9]{1,18}")
        ? Long.parseLong(text)
        : text.matches("[0-9]{19,}") ? Long.MAX_VALUE : otherwise;
  }
}
