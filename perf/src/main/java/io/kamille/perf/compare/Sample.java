package io.kamille.perf.compare;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.load.WrkResult;

/**
 * What one server needed in one round.
 *
 * @param cpu of the server's processes during the round
 * @param coreMicros how long their core was busy, whoever kept it so
 * @param memory at the end of the round
 * @param allocatedBytes on the heap during the round, by servers in Java; 0 for others
 */
record Sample(
    String server,
    Subject subject,
    int round,
    WrkResult load,
    CpuTime cpu,
    long coreMicros,
    MemoryUse memory,
    long allocatedBytes) {

  double cpuMicrosPerRequest() {
    return userMicrosPerRequest() + kernelMicrosPerRequest();
  }

  double userMicrosPerRequest() {
    return (double) cpu.userMicros() / load.requests();
  }

  double kernelMicrosPerRequest() {
    return (double) cpu.kernelMicros() / load.requests();
  }

  double garbageBytesPerRequest() {
    return (double) allocatedBytes / load.requests();
  }

  /** How much of the busy core was somebody else's: 0 is a quiet machine. */
  double disturbedRatio() {
    long own = cpu.userMicros() + cpu.kernelMicros();
    return coreMicros == 0 ? 0 : Math.max(0, 1 - (double) own / coreMicros);
  }
}
