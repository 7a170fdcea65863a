package io.kamille.perf.host;

/**
 * CPU time of a process since its start, its threads and the children it has waited for included.
 *
 * @param userTicks in user mode
 * @param kernelTicks in the kernel, on its behalf
 */
public record CpuTime(long userTicks, long kernelTicks) {

  /*
   * /proc/PID/stat (proc_pid_stat(5)): utime, stime, cutime and cstime are the fields 14 to 17. The
   * second field is the program's name in parentheses, which may hold blanks and parentheses, so
   * counting begins behind the last one. The unit is USER_HZ, 100 on every Linux the JDK runs on.
   * The sum is exact to a tick; how it divides into user and kernel is an estimate of the kernel's.
   */

  /** No time at all. */
  public static final CpuTime ZERO = new CpuTime(0, 0);

  private static final int MICROS_PER_TICK = 10_000;
  private static final int FIRST_FIELD = 3;
  private static final int UTIME = 14 - FIRST_FIELD;

  /** Reads a line of {@code /proc/PID/stat}. */
  static CpuTime parse(String stat) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long user = Long.parseLong(fields[UTIME]) + Long.parseLong(fields[UTIME + 2]);
    long kernel = Long.parseLong(fields[UTIME + 1]) + Long.parseLong(fields[UTIME + 3]);
    return new CpuTime(user, kernel);
  }

  public CpuTime plus(CpuTime other) {
    return new CpuTime(userTicks + other.userTicks, kernelTicks + other.kernelTicks);
  }

  public CpuTime minus(CpuTime other) {
    return new CpuTime(userTicks - other.userTicks, kernelTicks - other.kernelTicks);
  }

  public long userMicros() {
    return userTicks * MICROS_PER_TICK;
  }

  public long kernelMicros() {
    return kernelTicks * MICROS_PER_TICK;
  }

  /** In user mode and in the kernel. */
  public long micros() {
    return userMicros() + kernelMicros();
  }
}
