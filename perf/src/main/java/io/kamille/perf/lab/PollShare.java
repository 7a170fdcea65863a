package io.kamille.perf.lab;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Pattern;

/**
 * The share of the poll in the kernel time of a process, by the kernel's own samples. Sampling
 * disturbs a little, so nothing else is measured meanwhile. Confined.
 */
final class PollShare {

  /*
   * perf takes the kernel's stack 2,999 times in each second of kernel time. A sample belongs to the
   * poll if the system call is among its callers; how a poll falls asleep and wakes is part of it.
   */
  private static final Pattern POLL =
      Pattern.compile("\\b(do_sys_poll|do_poll\\S*|do_epoll_p?wait|ep_poll)\\b");

  private static final int LEAST_SAMPLES = 30;

  private final Process recording;
  private final Path data;

  private PollShare(Process recording, Path data) {
    this.recording = recording;
    this.data = data;
  }

  /** Whether there is a perf on this machine. */
  static boolean isPossible() {
    return Programs.find("perf") != null;
  }

  /** Begins to sample a process. */
  static PollShare start(Workbench bench, long pid) throws IOException {
    Path data = bench.directory("profile").resolve("perf.data");
    List<String> command =
        List.of("taskset", "-c", "1", "perf", "record", "-q", "-e", "cpu-clock:k", "-F", "2999");
    var all = new ArrayList<>(command);
    all.addAll(List.of("-g", "-o", data.toString(), "-p", Long.toString(pid)));
    return new PollShare(
        new ProcessBuilder(all)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start(),
        data);
  }

  /** Ends and reads: 0 to 1, or empty if there were too few samples. */
  OptionalDouble stop(Workbench bench) throws IOException, InterruptedException {
    bench.run(Core.OTHERS, List.of("kill", "-INT", Long.toString(recording.pid())));
    recording.waitFor();
    String script = "perf script -i " + data + " -F ip,sym 2>/dev/null";
    return of(bench.run(Core.OTHERS, List.of("sh", "-c", script)));
  }

  /** The share by the stacks that {@code perf script} prints, an empty line between two. */
  static OptionalDouble of(String stacks) {
    List<String> samples =
        Pattern.compile("\n\\s*\n").splitAsStream(stacks).filter(one -> !one.isBlank()).toList();
    long polls = samples.stream().filter(one -> POLL.matcher(one).find()).count();
    return samples.size() < LEAST_SAMPLES
        ? OptionalDouble.empty()
        : OptionalDouble.of((double) polls / samples.size());
  }
}
