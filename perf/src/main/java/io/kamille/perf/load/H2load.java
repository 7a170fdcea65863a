package io.kamille.perf.load;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives a server over TLS with h2load, in a closed loop, on the core for load. */
public final class H2load {

  /*
   * One cipher for all: servers prefer different ones, and AES-256 costs a third more than AES-128.
   */
  private static final String CIPHER = "TLS_AES_128_GCM_SHA256";

  /* Requests under way at the end count as failed, too, but have no status. */
  private static final Pattern STATUS =
      Pattern.compile("status codes: (\\d+) 2xx, (\\d+) 3xx, (\\d+) 4xx, (\\d+) 5xx");

  /**
   * What h2load counted in one run.
   *
   * @param requests answered ones
   * @param failures of them, those whose status is not 2xx
   */
  public record Result(long requests, long failures) {}

  private final Workbench bench;
  private final int clients;

  private H2load(Workbench bench, int clients) {
    this.bench = bench;
    this.clients = clients;
  }

  /** What is missing on this machine, or null. */
  public static @Nullable String missing() {
    return Programs.find("h2load") == null
        ? "h2load is needed; install it with: apt-get install nghttp2-client"
        : null;
  }

  /**
   * Prepares runs of that many clients, each on a connection.
   *
   * @throws IOException if h2load is missing
   */
  public static H2load open(Workbench bench, int clients) throws IOException {
    String missing = missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    return new H2load(bench, clients);
  }

  /** Asks twice for that path, one after the other, so that the server has it stored. */
  public void warm(int port, String path, int streams) throws IOException, InterruptedException {
    run(List.of("-c1", "-m1", "-n2"), port, path, streams);
  }

  /**
   * Asks for that path as fast as the server answers.
   *
   * @param streams at a time on each connection; 0 for HTTP/1.1
   */
  public Result run(int port, String path, int streams, int seconds)
      throws IOException, InterruptedException {
    return run(
        List.of("-c" + clients, "-m" + Math.max(1, streams), "-D" + seconds), port, path, streams);
  }

  private Result run(List<String> amount, int port, String path, int streams)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("h2load", "-t1", "--tls13-ciphers=" + CIPHER));
    command.addAll(amount);
    if (streams == 0) {
      command.add("--h1");
    }
    command.add("https://127.0.0.1:" + port + path);
    return parse(bench.run(Workbench.Core.OTHERS, command));
  }

  /**
   * Reads what h2load printed.
   *
   * @throws IllegalArgumentException if the line with the status codes is not there
   */
  static Result parse(String printed) {
    Matcher line = STATUS.matcher(printed);
    if (!line.find()) {
      throw new IllegalArgumentException("no status codes of h2load in: " + printed);
    }
    long failures = 0;
    for (int group = 2; group <= line.groupCount(); group++) {
      failures += Long.parseLong(line.group(group));
    }
    return new Result(Long.parseLong(line.group(1)) + failures, failures);
  }
}
