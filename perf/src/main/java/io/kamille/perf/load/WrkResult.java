package io.kamille.perf.load;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What wrk counted in one run, in a closed loop: a slower server is asked less.
 *
 * @param requests completed ones
 * @param micros how long the run took
 * @param bytes received, heads included
 * @param p50Micros from writing the request to the last octet of the response
 * @param errors connections that failed, time-outs, and status codes above 399
 */
public record WrkResult(
    long requests,
    long micros,
    long bytes,
    long p50Micros,
    long p99Micros,
    long p999Micros,
    long errors) {

  private static final String MARK = "result ";

  /**
   * Reads what wrk printed under {@code wrk.lua}.
   *
   * @throws IllegalArgumentException if the line with the result is not there
   */
  static WrkResult parse(String printed) {
    String line =
        printed
            .lines()
            .filter(candidate -> candidate.startsWith(MARK))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no result of wrk in: " + printed));
    Map<String, Long> values =
        Arrays.stream(line.substring(MARK.length()).split(" ", -1))
            .map(word -> word.split("=", 2))
            .collect(Collectors.toMap(word -> word[0], word -> Long.valueOf(word[1])));
    return new WrkResult(
        value(values, "requests"),
        value(values, "micros"),
        value(values, "bytes"),
        value(values, "p50"),
        value(values, "p99"),
        value(values, "p999"),
        value(values, "errors"));
  }

  private static long value(Map<String, Long> values, String name) {
    Long value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("result of wrk without " + name);
    }
    return value;
  }
}
