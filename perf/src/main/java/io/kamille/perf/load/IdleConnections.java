package io.kamille.perf.load;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Many persistent connections that asked once and stay open. Confined to one thread. */
public final class IdleConnections implements AutoCloseable {

  private static final int RATE = 2000;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final @Nullable LoadClient client;

  private IdleConnections(@Nullable LoadClient client) {
    this.client = client;
  }

  /**
   * Opens connections to a loopback port and asks once on each.
   *
   * @param size of the content of the answer
   * @throws IOException if one cannot be had or is not answered; all are closed then
   */
  public static IdleConnections open(int count, int port, String path, int size)
      throws IOException {
    if (count == 0) {
      return new IdleConnections(null);
    }
    var settings = LoadSettings.persistent(port, count).withTimeLimit(LIMIT);
    LoadClient client = LoadClient.open(settings.onSharedCore());
    String authority = "127.0.0.1:" + port;
    var request = LoadRequest.get(authority, path, FixedContent.octets(size));
    var schedule = RateSchedule.steady(RATE, Duration.ofNanos(count * NANOS_PER_SECOND / RATE));
    // The connection that has been idle for longest is the next: each is asked once.
    LoadResult result = client.run(Arrivals.even(schedule), RequestSource.always(request));
    if (result.failed() > 0) {
      client.close();
      throw new IOException(result.failures() + " of " + count + " idle connections");
    }
    return new IdleConnections(client);
  }

  /** How many the server has not closed. */
  public int openCount() throws IOException {
    return client == null ? 0 : client.openCount();
  }

  @Override
  public void close() throws IOException {
    if (client != null) {
      client.close();
    }
  }
}
