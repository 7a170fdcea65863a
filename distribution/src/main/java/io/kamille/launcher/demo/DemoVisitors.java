package io.kamille.launcher.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Somebody who visits the demo site, so that the pages of the UI have something to show. */
public final class DemoVisitors implements AutoCloseable {

  /*
   * They leave /about and /slow alone: whoever tries the demo is to see their first miss. The page
   * of the time is never stored, so that there are misses too.
   */
  private static final List<String> PATHS =
      List.of("/", "/", "/style.css", "/logo.svg", "/landscape.svg", "/download.bin", "/now");
  private static final int TIMEOUT_MILLIS = 5000;

  private final String site;
  private final SplittableRandom random = new SplittableRandom();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("kamille-demo-visitors").daemon().factory());

  /** Visitors of {@code site} who have not begun. */
  public DemoVisitors(String site) {
    this.site = site;
  }

  /** Visits so often from now on; 0 for never. */
  public void start(int requestsPerSecond) {
    if (requestsPerSecond > 0) {
      long micros = TimeUnit.SECONDS.toMicros(1) / requestsPerSecond;
      clock.scheduleAtFixedRate(this::visit, micros, micros, TimeUnit.MICROSECONDS);
    }
  }

  private void visit() {
    String path = PATHS.get(random.nextInt(PATHS.size()));
    try {
      HttpURLConnection connection =
          (HttpURLConnection) URI.create(site + path).toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      try (InputStream content = connection.getInputStream()) {
        content.transferTo(OutputStream.nullOutputStream());
      }
    } catch (IOException gone) {
      // A visitor who gets no answer comes again.
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
