package io.kamille.core.leak;

import io.netty.util.ResourceLeakDetectorFactory;
import java.util.List;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/** Fails a test run in which something reference-counted was forgotten. */
public final class LeakWatch implements LauncherSessionListener {

  private final LeakReports reports = new LeakReports();

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(reports);
  }

  @Override
  public void launcherSessionClosed(LauncherSession session) {
    List<String> leaks = flush();
    if (!leaks.isEmpty()) {
      throw new AssertionError(
          leaks.size() + " leaked (expected: none):\n\n" + String.join("\n\n", leaks));
    }
  }

  private List<String> flush() {
    try {
      return reports.flush();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while leaks were counted", interrupted);
    }
  }
}
