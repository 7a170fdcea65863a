package io.kamille.launcher.appliance;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedThread;

/**
 * Notes each call of some methods, by the flight recorder of the JVM: what is traced is not changed
 * for it. Confined to the thread of its test, but for its marks.
 */
final class CallTrace implements AutoCloseable {

  /*
   * Native methods cannot be traced, but what calls them can. The recorder puts its code in front of
   * the methods when it starts, and takes it away when it stops.
   */
  private static final String CALL = "jdk.MethodTrace";
  private static final String MARK = "kamille.test.Mark";

  /**
   * A call.
   *
   * @param mark the last mark before it
   * @param method as it was given
   */
  record Call(String mark, String thread, String method) {}

  @Name(MARK)
  static final class Mark extends Event {
    String name = "";
  }

  private final Recording recording = new Recording();

  /** Traces these methods from now on, each as {@code package.Class::method}. */
  static CallTrace start(Collection<String> methods) {
    CallTrace trace = new CallTrace();
    trace
        .recording
        .enable(CALL)
        .withThreshold(Duration.ZERO)
        .withoutStackTrace()
        .with("filter", String.join(";", methods));
    trace.recording.enable(Mark.class).withoutStackTrace();
    trace.recording.start();
    return trace;
  }

  /** The calls from now on have this mark. Any thread. */
  Mark mark(String name) {
    Mark mark = new Mark();
    mark.name = name;
    mark.commit();
    return mark;
  }

  /** Ends the trace: all calls, in their order. */
  List<Call> stop(Path file) throws IOException {
    recording.stop();
    recording.dump(file);
    List<Call> calls = new ArrayList<>();
    String[] mark = {""};
    try (EventStream events = EventStream.openFile(file)) {
      events.onEvent(MARK, event -> mark[0] = event.getString("name"));
      events.onEvent(CALL, event -> calls.add(call(mark[0], event)));
      events.start();
    }
    return calls;
  }

  private static Call call(String mark, RecordedEvent event) {
    RecordedMethod method = event.getValue("method");
    return new Call(mark, threadName(event), method.getType().getName() + "::" + method.getName());
  }

  private static String threadName(RecordedEvent event) {
    RecordedThread thread = event.getThread();
    return thread == null || thread.getJavaName() == null ? "" : thread.getJavaName();
  }

  @Override
  public void close() {
    recording.close();
  }
}
