package io.kamille.admin.tuning;

import java.io.IOException;
import java.nio.file.Path;

/**
 * How large the kernel lets a send buffer become, in octets of content.
 *
 * @param tunedBytes when it tunes the size by itself
 * @param fixedBytes when it is told
 */
public record KernelLimits(long tunedBytes, long fixedBytes) {

  /*
   * tcp_wmem is "least first most" with what the kernel needs beside content, so half of it is
   * content. wmem_max is what SO_SNDBUF may ask for, which the kernel doubles.
   */
  private static final long TUNED_BYTES = 2 << 20;
  private static final long FIXED_BYTES = 212_992;

  /** Reads them below {@code proc}; what it does not tell is as in a fresh Linux. */
  public static KernelLimits read(Path proc) {
    return new KernelLimits(
        last(proc.resolve("sys/net/ipv4/tcp_wmem"), 2 * TUNED_BYTES) / 2,
        last(proc.resolve("sys/net/core/wmem_max"), FIXED_BYTES));
  }

  /** The most that is fixed: what the kernel grants, and no more than it would choose itself. */
  long fixableBytes() {
    return Math.min(fixedBytes, tunedBytes);
  }

  private static long last(Path file, long otherwise) {
    try {
      String[] numbers = ProcFile.numbers(file);
      return Long.parseLong(numbers[numbers.length - 1]);
    } catch (IOException | NumberFormatException untold) {
      return otherwise;
    }
  }
}
