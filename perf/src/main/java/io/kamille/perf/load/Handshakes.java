package io.kamille.perf.load;

import io.kamille.perf.host.Workbench;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * TLS 1.3 handshakes by openssl, one after the other on the core for load, each with a request that
 * closes its connection.
 */
public final class Handshakes {

  private static final Pattern DONE = Pattern.compile("(\\d+) connections in \\d+ real seconds");

  private Handshakes() {}

  /**
   * Connects for that long, and asks for the path each time.
   *
   * @param isResumed whether each takes up the session of the first, instead of a new one
   * @return how many
   * @throws IOException if openssl failed, or some did not take up the session
   */
  public static long run(Workbench bench, int port, String path, boolean isResumed, int seconds)
      throws IOException, InterruptedException {
    String printed =
        bench.run(
            Workbench.Core.OTHERS,
            List.of(
                "openssl",
                "s_time",
                "-tls1_3",
                "-ciphersuites",
                "TLS_AES_128_GCM_SHA256",
                isResumed ? "-reuse" : "-new",
                "-www",
                request(path, port),
                "-time",
                Integer.toString(seconds),
                "-connect",
                "127.0.0.1:" + port));
    return parse(printed, isResumed);
  }

  /** openssl puts a path before " HTTP/1.0"; HAProxy stores nothing for that version. */
  private static String request(String path, int port) {
    return path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: close\r\nX-Version:";
  }

  /** Reads what openssl printed: a star for each new session, an r for each that was resumed. */
  static long parse(String printed, boolean isResumed) throws IOException {
    Matcher line = DONE.matcher(printed);
    int stars = printed.length() - printed.replace("*", "").length();
    if (!line.find() || (isResumed && stars > 1)) {
      throw new IOException("openssl s_time: " + stars + " new sessions in: " + printed);
    }
    return Long.parseLong(line.group(1));
  }
}
