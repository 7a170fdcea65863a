package io.kamille.perf.compare;

import io.kamille.perf.host.CoreTime;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.JavaAllocation;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Wrk;
import io.kamille.perf.load.WrkResult;
import java.io.IOException;

/** Puts one server under load for a while and reads the meters before and after. */
record Measurement(Workbench bench, Wrk wrk, Origin origin, ComparisonOptions options) {

  /**
   * Asks a server for a subject, for as long as a round lasts.
   *
   * @throws IOException if a request failed, or if answers came from the wrong place
   */
  Sample of(Contestant contestant, Subject subject, int round)
      throws IOException, InterruptedException {
    var process = contestant.process();
    long forwardedBefore = origin.requests();
    long allocatedBefore = allocatedBytes(contestant);
    CpuTime cpuBefore = process.cpuTime();
    long coreBefore = CoreTime.busyMicros(Core.SERVER);
    WrkResult load =
        wrk.run(contestant.port(), subject.path(), subject.coding(), options.seconds());
    long coreMicros = CoreTime.busyMicros(Core.SERVER) - coreBefore;
    CpuTime cpu = process.cpuTime().minus(cpuBefore);
    long allocated = allocatedBytes(contestant) - allocatedBefore;
    check(contestant, subject, load, origin.requests() - forwardedBefore);
    MemoryUse memory = process.memory();
    return new Sample(contestant.name(), subject, round, load, cpu, coreMicros, memory, allocated);
  }

  private long allocatedBytes(Contestant contestant) throws IOException, InterruptedException {
    return contestant.peer().isJava() ? JavaAllocation.bytes(bench, contestant.process().pid()) : 0;
  }

  private void check(Contestant contestant, Subject subject, WrkResult load, long forwarded)
      throws IOException {
    if (load.requests() == 0 || load.errors() > 0) {
      throw new IOException(
          contestant.name() + " failed " + load.errors() + " requests for " + subject.path());
    }
    boolean isRight =
        subject.job().isStoring()
            ? forwarded == 0
            : Math.abs(forwarded - load.requests()) <= options.connections();
    if (!isRight) {
      throw new IOException(
          contestant.name() + " forwarded " + forwarded + " of " + load.requests() + " requests");
    }
  }
}
