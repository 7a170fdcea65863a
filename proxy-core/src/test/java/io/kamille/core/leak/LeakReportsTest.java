package io.kamille.core.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakTracker;
import org.junit.jupiter.api.Test;

class LeakReportsTest {

  private final LeakReports reports = new LeakReports();
  private final ResourceLeakDetector<Object> detector =
      reports.newResourceLeakDetector(Object.class, 1);

  @Test
  void whatIsForgottenIsReported() throws InterruptedException {
    forget();
    assertThat(reports.flush()).singleElement().asString().contains("Object was not released");
  }

  @Test
  void whatIsReleasedIsNotReported() throws InterruptedException {
    release();
    assertThat(reports.flush()).isEmpty();
  }

  private void forget() {
    assertThat(detector.track(new Object())).isNotNull();
  }

  private void release() {
    var resource = new Object();
    ResourceLeakTracker<Object> tracker = detector.track(resource);
    assertThat(tracker).isNotNull();
    tracker.close(resource);
  }
}
