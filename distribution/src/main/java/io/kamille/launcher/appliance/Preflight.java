package io.kamille.launcher.appliance;

import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.doctor.KernelFile;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Looks, before anything is started, whether the system gives what the configuration asks for. */
public final class Preflight {

  /** Descriptors for everything but connections: jars, listeners, logs, epoll. */
  private static final long OWN_DESCRIPTORS = 200;

  private static final long LEAST_DESCRIPTORS = 512;
  private static final System.Logger LOG = System.getLogger("kamille.appliance");
  private static final long MIB = 1L << 20;

  /** What a process takes beside cache and heap, and the least heap that it can work with. */
  private static final long REST_BYTES = 64 * MIB;

  private static final long LEAST_HEAP_BYTES = 32 * MIB;

  /** Of the JVM and of Kamille, beside loops, that begin after this look. */
  private static final int OWN_THREADS = 24;

  private final Path proc;
  private final ControlGroups groups;

  /**
   * A look at the system described in {@code proc}, usually {@code /proc}, and {@code groups},
   * usually {@code /sys/fs/cgroup}.
   */
  Preflight(Path proc, Path groups) {
    this.proc = proc;
    this.groups = new ControlGroups(proc, groups);
  }

  /** A look at this system. */
  public static Preflight here() {
    return new Preflight(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
  }

  /** Fails with one sentence if something is too little to start at all. */
  void check(Configuration configuration) throws StartFailure {
    examine(configuration);
    String tight = tightMemory(configuration.cache().memory().capacityBytes());
    if (tight != null) {
      LOG.log(Level.WARNING, tight);
    }
  }

  private void examine(Configuration configuration) throws StartFailure {
    long descriptors = descriptorLimit();
    if (descriptors < LEAST_DESCRIPTORS) {
      throw new StartFailure(
          StartFailure.Cause.SYSTEM,
          "too few file descriptors: "
              + descriptors
              + " allowed, at least "
              + LEAST_DESCRIPTORS
              + " needed (raise the limit by `ulimit -n` or LimitNOFILE=)");
    }
    long threads = groups.threads();
    long neededThreads = (long) configuration.loops() + OWN_THREADS;
    if (threads < neededThreads) {
      throw new StartFailure(
          StartFailure.Cause.SYSTEM,
          "too few threads: the control group allows "
              + threads
              + " more, "
              + neededThreads
              + " needed (raise pids.max or TasksMax=)");
    }
    checkMemory(configuration.cache().memory().capacityBytes());
  }

  /** What a start in this control group would say of the configuration; null for nothing. */
  public @Nullable String advice(Configuration configuration) {
    try {
      examine(configuration);
      return tightMemory(configuration.cache().memory().capacityBytes());
    } catch (StartFailure failure) {
      return failure.getMessage();
    }
  }

  private @Nullable String tightMemory(long capacityBytes) {
    long wanted = capacityBytes + Runtime.getRuntime().maxMemory() + REST_BYTES;
    long allowed = groups.memoryBytes();
    return allowed >= wanted ? null : controlGroup(allowed, wanted, "may be used by");
  }

  private static String controlGroup(long allowed, long bytes, String verb) {
    return "the control group allows "
        + allowed / MIB
        + " MiB, "
        + bytes / MIB
        + " MiB "
        + verb
        + " cache.memory.capacity, the heap and the rest of the process"
        + " (lower the capacity or -Xmx, or raise the limit)";
  }

  /**
   * Connections to clients that there are descriptors for, at most as many as wanted; a warning
   * tells when they are fewer. Each may need another connection, to an origin.
   */
  int connections(int wanted) {
    long possible = (descriptorLimit() - OWN_DESCRIPTORS) / 2;
    if (possible >= wanted) {
      return wanted;
    }
    LOG.log(
        Level.WARNING,
        "limits.connections: {0}, but the limit of file descriptors allows {1}",
        Integer.toString(wanted),
        Long.toString(possible));
    return (int) possible;
  }

  private void checkMemory(long capacityBytes) throws StartFailure {
    long available = availableBytes();
    if (available < capacityBytes) {
      throw new StartFailure(
          StartFailure.Cause.SYSTEM,
          "too little memory: "
              + available / MIB
              + " MiB available, "
              + capacityBytes / MIB
              + " MiB asked for by cache.memory.capacity");
    }
    long heap = Math.min(Runtime.getRuntime().maxMemory(), LEAST_HEAP_BYTES);
    long needed = capacityBytes + heap + REST_BYTES;
    long allowed = groups.memoryBytes();
    if (allowed < needed) {
      throw new StartFailure(
          StartFailure.Cause.SYSTEM,
          "too little memory: " + controlGroup(allowed, needed, "needed by"));
    }
  }

  private long descriptorLimit() {
    return KernelFile.openFiles(proc.resolve("self"));
  }

  private long availableBytes() {
    long kib = KernelFile.field(proc.resolve("meminfo"), "MemAvailable:");
    return kib == 0 ? Long.MAX_VALUE : kib * 1024;
  }
}
