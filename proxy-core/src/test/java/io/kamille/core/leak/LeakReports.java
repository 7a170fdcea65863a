package io.kamille.core.leak;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Everything Netty's leak detectors found, collected instead of logged. Any thread. */
final class LeakReports extends ResourceLeakDetectorFactory {

  /*
   * A detector learns of a leak when the collector has cleared the forgotten object, and tells it
   * when the next object is tracked. So a flush collects garbage, waits for a reference of its own
   * to be enqueued, and lets every detector track something. Twice more, because the references of
   * one collection are enqueued one after another.
   */
  private static final int FLUSH_ROUNDS = 3;
  private static final long COLLECTION_LIMIT_MILLIS = 60_000L;

  private static final Pattern RUNNER_FRAME =
      Pattern.compile("\\t(java\\.base/|org\\.junit\\.|org\\.apache\\.maven\\.)");

  private final Queue<String> reports = new ConcurrentLinkedQueue<>();
  private final Queue<CollectingDetector<?>> detectors = new ConcurrentLinkedQueue<>();

  @Override
  @Deprecated
  public <T> ResourceLeakDetector<T> newResourceLeakDetector(
      Class<T> resource, int samplingInterval, long maxActive) {
    return newResourceLeakDetector(resource, samplingInterval);
  }

  @Override
  public <T> ResourceLeakDetector<T> newResourceLeakDetector(
      Class<T> resource, int samplingInterval) {
    var detector = new CollectingDetector<T>(resource, samplingInterval);
    detectors.add(detector);
    return detector;
  }

  /** Finds what was forgotten up to now; one report for each leak. */
  List<String> flush() throws InterruptedException {
    for (int round = 0; round < FLUSH_ROUNDS; round++) {
      collectGarbage();
      detectors.forEach(CollectingDetector::tellPending);
    }
    return List.copyOf(reports);
  }

  private static void collectGarbage() throws InterruptedException {
    var queue = new ReferenceQueue<Object>();
    var canary = new PhantomReference<>(new Object(), queue);
    try {
      System.gc();
      if (queue.remove(COLLECTION_LIMIT_MILLIS) == null) {
        throw new IllegalStateException(
            "no collection in " + COLLECTION_LIMIT_MILLIS + " ms (expected: one per System.gc())");
      }
    } finally {
      Reference.reachabilityFence(canary);
    }
  }

  private final class CollectingDetector<T> extends ResourceLeakDetector<T> {

    private CollectingDetector(Class<?> resource, int samplingInterval) {
      super(resource, samplingInterval);
    }

    @SuppressWarnings("unchecked")
    private void tellPending() {
      T probe = (T) new Object();
      ResourceLeakTracker<T> tracker = track(probe);
      if (tracker != null) {
        tracker.close(probe);
      }
    }

    @Override
    protected boolean needReport() {
      return true;
    }

    @Override
    protected void reportTracedLeak(String resourceType, String records) {
      reports.add(resourceType + " was not released before it was collected" + ours(records));
    }

    @Override
    protected void reportUntracedLeak(String resourceType) {
      reports.add(resourceType + " was not released before it was collected");
    }
  }

  private static String ours(String records) {
    return records
        .lines()
        .filter(line -> !RUNNER_FRAME.matcher(line).lookingAt())
        .collect(Collectors.joining("\n"));
  }
}
