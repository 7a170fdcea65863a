package io.kamille.perf.load;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Resource;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Load in a closed loop, on the core for load: by wrk in clear text, by h2load over TLS. */
public final class LoadProgram {

  /**
   * What came of a load.
   *
   * @param p50Micros 0 if the program does not tell, and so on
   */
  public record Result(
      long requests, long micros, long bytes, long p50Micros, long p99Micros, long errors) {}

  private static final String CIPHER = "TLS_AES_128_GCM_SHA256";
  private static final Pattern WRK =
      Pattern.compile(
          "result requests=(\\d+) micros=(\\d+) bytes=(\\d+) p50=(\\d+) p99=(\\d+) p999=\\d+"
              + " errors=(\\d+)");

  /* Requests under way at the end count as failed, too, but have no status. */
  private static final Pattern H2LOAD =
      Pattern.compile("status codes: (\\d+) 2xx, (\\d+) 3xx, (\\d+) 4xx, (\\d+) 5xx");

  private LoadProgram() {}

  /** Runs wrk in clear text. */
  public static Result wrk(Workbench bench, int connections, int port, String path, int seconds)
      throws IOException, InterruptedException {
    String url = "http://127.0.0.1:" + port + path;
    return wrk(bench, List.of(), connections, seconds, List.of(url));
  }

  /**
   * Runs wrk.
   *
   * @param begin of the command, for another network
   * @param end of the command, with the URL
   */
  public static Result wrk(
      Workbench bench, List<String> begin, int connections, int seconds, List<String> end)
      throws IOException, InterruptedException {
    Programs.require("wrk", "wrk");
    Path script = bench.directory("wrk").resolve("wrk.lua");
    Files.writeString(script, Resource.text(LoadProgram.class, "wrk.lua"));
    var command = new ArrayList<>(begin);
    command.addAll(List.of("wrk", "-t1", "-c" + connections, "-d" + seconds + "s"));
    command.addAll(List.of("-s", script.toString()));
    command.addAll(end);
    return wrk(bench.run(Core.OTHERS, command));
  }

  static Result wrk(String printed) throws IOException {
    long[] numbers = numbers(WRK, printed);
    return new Result(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
  }

  /**
   * Runs h2load.
   *
   * @param end of the command: options and the URL
   */
  public static Result h2load(Workbench bench, int seconds, List<String> end)
      throws IOException, InterruptedException {
    Programs.require("h2load", "nghttp2-client");
    var command = new ArrayList<>(List.of("h2load", "-t1", "--tls13-ciphers=" + CIPHER));
    command.addAll(end);
    return h2load(bench.run(Core.OTHERS, command), seconds);
  }

  static Result h2load(String printed, int seconds) throws IOException {
    long[] numbers = numbers(H2LOAD, printed);
    long errors = numbers[1] + numbers[2] + numbers[3];
    return new Result(numbers[0] + errors, seconds * 1_000_000L, 0, 0, 0, errors);
  }

  private static long[] numbers(Pattern pattern, String printed) throws IOException {
    Matcher found = pattern.matcher(printed);
    if (!found.find()) {
      throw new IOException("a load program printed no result: " + printed);
    }
    long[] numbers = new long[found.groupCount()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = Long.parseLong(found.group(i + 1));
    }
    return numbers;
  }
}
