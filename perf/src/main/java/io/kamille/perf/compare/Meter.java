package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** What a server takes of its core and of memory between two instants. Confined. */
final class Meter {

  /** CPU time in user mode, by {@code /proc/PID/stat}, of all threads and children. */
  static final Figure USER = Figure.of("user_micros");

  /** CPU time in the kernel. */
  static final Figure KERNEL = Figure.of("kernel_micros");

  /** How long the server's core was busy, whoever kept it so. */
  static final Figure CORE = Figure.of("core_micros");

  /** Resident octets at the end. */
  static final Figure RESIDENT = Figure.of("resident_bytes");

  /** Octets at the end, shared pages divided by those that share them. */
  static final Figure PROPORTIONAL = Figure.of("proportional_bytes");

  /** CPU time in all. */
  static final Figure CPU = USER.plus(KERNEL);

  /** CPU time of the compilers of a JVM; none where there are none. */
  static final Figure COMPILERS = Figure.of("compiler_nanos");

  /** CPU time of the threads that serve, of a JVM. */
  static final Figure LOOPS = Figure.of("loop_nanos");

  private static final List<String> COMPILER_NAMES = List.of("C1 Compiler", "C2 Compiler");
  private static final List<String> LOOP_NAMES = List.of("kamille-loop-");

  private static final double DISTURBED_RATIO = 0.1;

  /** How much of the busy core was somebody else's: 0 is a quiet machine. */
  private static final Figure DISTURBED =
      new Figure("disturbed", one -> Math.max(0, 1 - one.of(CPU) / Math.max(1, one.of(CORE))));

  private final Child process;
  private final CpuTime before;
  private final RunTime threadsBefore;
  private final long coreBefore;

  private Meter(Child process, CpuTime before, RunTime threadsBefore) throws IOException {
    this.process = process;
    this.before = before;
    this.threadsBefore = threadsBefore;
    this.coreBefore = ProcessFigures.busyMicros(Core.SERVER);
  }

  static Meter start(Child process) throws IOException {
    return new Meter(process, process.cpuTime(), process.runTime());
  }

  /** From the beginning of the process, so that what it did before its first request counts. */
  static Meter fromExec(Child process) throws IOException {
    return new Meter(process, CpuTime.ZERO, new RunTime(Map.of(), Map.of()));
  }

  /** Adds to a sample what the process has taken since the start. */
  Sample stop(Sample sample) throws IOException {
    long coreMicros = ProcessFigures.busyMicros(Core.SERVER) - coreBefore;
    CpuTime taken = process.cpuTime().minus(before);
    MemoryUse memory = process.memory();
    RunTime threads = process.runTime();
    return sample
        .with(USER, taken.userMicros())
        .with(KERNEL, taken.kernelMicros())
        .with(COMPILERS, compilersNanos(threads, threadsBefore))
        .with(LOOPS, threads.of(LOOP_NAMES).since(threadsBefore).ranNanos())
        .with(CORE, coreMicros)
        .with(RESIDENT, memory.residentBytes())
        .with(PROPORTIONAL, memory.proportionalBytes());
  }

  /** What the compilers took between two looks at the threads. */
  static long compilersNanos(RunTime threads, RunTime before) {
    return threads.of(COMPILER_NAMES).since(before).ranNanos();
  }

  /** Says so if others took much of the server's core in one of these rounds. */
  static void noteDisturbance(Comparison comparison, Iterable<Sample> samples) {
    double most = 0;
    for (Sample sample : samples) {
      most = Math.max(most, sample.of(DISTURBED));
    }
    if (most > DISTURBED_RATIO) {
      comparison.note("in one round %.0f %% of the busy core was not the server's", most * 100);
    }
  }
}
