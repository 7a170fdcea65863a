package io.kamille.admin.tuning;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
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
      String[] numbers = numbers(file);
      return Long.parseLong(numbers[numbers.length - 1]);
    } catch (IOException | NumberFormatException untold) {
      return otherwise;
    }
  }

  /**
   * The numbers in the first line of a file below /proc/sys, as text. The kernel gives them to the
   * first read of it and nothing to a second one. So it must be a large one: Files.readString
   * begins with one octet, because the file's size is 0.
   */
  static String[] numbers(Path file) throws IOException {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line = reader.readLine();
      if (line == null) {
        throw new EOFException(file + " is empty");
      }
      return line.strip().split("\\s+", -1);
    }
  }
}
