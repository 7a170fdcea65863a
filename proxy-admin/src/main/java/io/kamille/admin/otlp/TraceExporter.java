package io.kamille.admin.otlp;

import io.kamille.core.loop.SteadyTask;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.trace.LoopTracer;
import io.kamille.core.trace.RequestTrace;
import io.kamille.core.trace.Tracing;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends what was recorded to a collector, on a thread of its own, and never holds anything up: what
 * the collector does not take in time is lost and counted. Any thread.
 */
public final class TraceExporter implements AutoCloseable {

  /*
   * The rings of the loops are the queue: each turn takes what is newer than what the turn before
   * saw, and knows by the numbers how many were replaced meanwhile. A batch is sent once. Of the
   * answer only the status code counts; its content is dropped as it comes, and all of it has one
   * time limit, so a collector that hangs or never ends costs this thread some seconds.
   */
  static final MetricDescriptor EXPORTED =
      MetricDescriptor.counter(
          "kamille_traces_exported_total", "Traces that a collector has taken.");

  static final MetricDescriptor LOST =
      MetricDescriptor.counter(
          "kamille_traces_lost_total",
          "Traces that were not taken by the collector, or were replaced before they were sent.");

  private static final System.Logger LOG = System.getLogger("kamille.traces");
  private static final int MOST_IN_BATCH = 512;

  private final Tracing tracing;
  private final URI endpoint;
  private final String version;
  private final Duration period;
  private final Duration limit;
  private final HttpClient client;
  private final Thread thread;
  private final Counter exported;
  private final Counter lost;
  private final Map<LoopTracer, Long> seen = new HashMap<>();
  private boolean isTroubleSaid;

  /**
   * Begins to send.
   *
   * @param version of ours
   * @param period how long it rests between batches
   * @param limit for one exchange with the collector, from connecting to the end of its answer
   */
  public TraceExporter(
      Tracing tracing,
      URI endpoint,
      String version,
      Duration period,
      Duration limit,
      MetricRegistry registry) {
    this.tracing = tracing;
    this.endpoint = endpoint;
    this.version = version;
    this.period = period;
    this.limit = limit;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(limit)
            .build();
    this.exported = registry.counter(EXPORTED);
    this.lost = registry.counter(LOST);
    SteadyTask task = new SteadyTask(LOG, "traces are lost", this::turn);
    this.thread =
        Thread.ofPlatform()
            .daemon()
            .name("kamille-traces")
            .start(() -> task.repeatUntil(() -> false));
  }

  /** A turn that fails loses what it took, and the next one is as good as ever. */
  private void turn() throws InterruptedException {
    Thread.sleep(period);
    List<RequestTrace> waiting = new ArrayList<>();
    try {
      tracing.loops().forEach(loop -> waiting.addAll(newer(loop)));
      waiting.sort(Comparator.comparingLong(trace -> trace.request().startEpochMillis()));
      while (!waiting.isEmpty()) {
        List<RequestTrace> batch = waiting.subList(0, Math.min(waiting.size(), MOST_IN_BATCH));
        send(List.copyOf(batch));
        batch.clear();
      }
    } catch (RuntimeException | Error fault) {
      ended(waiting.size(), "a fault of ours: " + fault);
    }
  }

  private List<RequestTrace> newer(LoopTracer loop) {
    long before = seen.getOrDefault(loop, 0L);
    long last = loop.newest();
    List<RequestTrace> newer =
        loop.after(before).stream().filter(trace -> trace.request().number() <= last).toList();
    seen.put(loop, last);
    lost.add(last - before - newer.size());
    return newer;
  }

  private void send(List<RequestTrace> batch) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(endpoint)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(OtlpJson.of(batch, version)))
            .build();
    CompletableFuture<Integer> answer =
        client
            .sendAsync(request, BodyHandlers.discarding())
            .thenApply(response -> response.statusCode());
    try {
      int status = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      ended(batch.size(), status / 100 == 2 ? "" : "it answers " + status);
    } catch (ExecutionException failed) {
      ended(batch.size(), String.valueOf(failed.getCause()));
    } catch (TimeoutException late) {
      answer.cancel(true);
      ended(batch.size(), "no answer in " + limit.toMillis() + " ms");
    }
  }

  /** Says the first of several failures. */
  private void ended(int count, String trouble) {
    if (trouble.isEmpty()) {
      exported.add(count);
      isTroubleSaid = false;
      return;
    }
    lost.add(count);
    if (!isTroubleSaid) {
      LOG.log(Level.WARNING, "traces are lost: {0}: {1}", endpoint, trouble);
      isTroubleSaid = true;
    }
  }

  /** Sends no more. What was not sent is lost. */
  @Override
  public void close() {
    thread.interrupt();
    client.shutdownNow();
  }
}
