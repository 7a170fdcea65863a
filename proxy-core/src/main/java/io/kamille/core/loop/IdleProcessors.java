package io.kamille.core.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/**
 * How many of the processors that this process may use are left to it by others, see {@code
 * proc(5)}. Confined to the thread that asks.
 */
final class IdleProcessors {

  /*
   * What is idle and what we use ourselves is ours; a loop that spins makes a processor busy, and
   * must not forbid itself to spin by that. All times are in the kernel's ticks, over the stretch
   * since the last question.
   */
  private static final String ALLOWED = "Cpus_allowed_list:";
  private static final int IDLE = 3;
  private static final int IOWAIT = 4;
  private static final int PARTS = 8;
  private static final int USER_TICKS = 11;
  private static final int SYSTEM_TICKS = 12;

  private final Path proc;
  private long idleTicks;
  private long allTicks;
  private long ownTicks;
  private boolean hasAsked;

  IdleProcessors(Path proc) {
    this.proc = proc;
  }

  /**
   * Processors that nobody else uses, since the last question; zero for the first or if unknown.
   */
  double count() {
    try {
      BitSet allowed = allowed();
      return count(allowed, Files.readAllLines(proc.resolve("stat")), ownTicks());
    } catch (IOException | RuntimeException unreadable) {
      hasAsked = false;
      return 0;
    }
  }

  private double count(BitSet allowed, List<String> stat, long own) {
    long idle = 0;
    long all = 0;
    for (String line : stat) {
      String[] parts = line.split(" +", -1);
      if (parts[0].startsWith("cpu") && parts[0].length() > 3 && allowed.get(number(parts[0]))) {
        for (int i = 0; i < PARTS; i++) {
          all += Long.parseLong(parts[1 + i]);
        }
        idle += Long.parseLong(parts[1 + IDLE]) + Long.parseLong(parts[1 + IOWAIT]);
      }
    }
    double ours = idle - idleTicks + own - ownTicks;
    double whole = all - allTicks;
    boolean isKnown = hasAsked && whole > 0;
    idleTicks = idle;
    allTicks = all;
    ownTicks = own;
    hasAsked = true;
    return isKnown ? Math.clamp(ours / whole, 0, 1) * allowed.cardinality() : 0;
  }

  private static int number(String cpu) {
    return Integer.parseInt(cpu.substring("cpu".length()));
  }

  /** What this process has used; its name, in brackets, may hold anything. */
  private long ownTicks() throws IOException {
    String stat = Files.readString(proc.resolve("self/stat"));
    String[] parts = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(parts[USER_TICKS]) + Long.parseLong(parts[SYSTEM_TICKS]);
  }

  private BitSet allowed() throws IOException {
    BitSet allowed = new BitSet();
    for (String line : Files.readAllLines(proc.resolve("self/status"))) {
      if (line.startsWith(ALLOWED)) {
        for (String range : line.substring(ALLOWED.length()).strip().split(",", -1)) {
          int dash = range.indexOf('-');
          int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
          int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
          allowed.set(first, last + 1);
        }
      }
    }
    return allowed;
  }
}
