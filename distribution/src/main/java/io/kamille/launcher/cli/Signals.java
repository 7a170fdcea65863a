package io.kamille.launcher.cli;

import io.kamille.core.socket.SignalDisposition;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Signals from the operating system. The JDK has had the same unsupported class for them for thirty
 * years and no other; it is reached by reflection because javac warns of its name beyond silencing.
 */
public final class Signals {

  /*
   * A signal that comes while the process starts would end it. So bin/kamille has some ignored, and
   * the first thing that a start does is to hold them. The JVM leaves an ignored SIGHUP as it is:
   * so it gets the disposition that the JVM has given to SIGTERM, whose handler serves any signal.
   *
   * The JVM starts a thread for each signal. If one waits for its action, another one adds nothing.
   */
  private static final Map<String, Held> HELD = new ConcurrentHashMap<>();

  private static final int SIGHUP = 1;
  private static final int SIGTERM = 15;

  /** One that waits for its action. */
  static final class Held {
    private @Nullable Runnable action;
    private final AtomicBoolean isDue = new AtomicBoolean();

    void came() {
      if (!isDue.getAndSet(true)) {
        runIfDue();
      }
    }

    synchronized void act(Runnable next) {
      action = next;
      runIfDue();
    }

    private synchronized void runIfDue() {
      if (action != null && isDue.getAndSet(false)) {
        action.run();
      }
    }
  }

  private Signals() {}

  /** Has signals of these names wait until {@link #on} says what they do. */
  public static void hold(String... names) {
    SignalDisposition.unlessHeeded(SIGHUP, SIGTERM);
    for (String name : names) {
      Held held = new Held();
      HELD.put(name, held);
      install(name, held::came);
    }
  }

  /** Has {@code action} run, on a thread of the JVM's, whenever signal {@code name} comes. */
  static void on(String name, Runnable action) {
    Held held = HELD.get(name);
    if (held == null) {
      install(name, action);
    } else {
      held.act(action);
    }
  }

  private static void install(String name, Runnable action) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object handler =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {handlerType},
              (handlerItself, method, arguments) ->
                  switch (method.getName()) {
                    case "handle" -> {
                      action.run();
                      yield null;
                    }
                    case "hashCode" -> System.identityHashCode(handlerItself);
                    case "equals" -> false;
                    default -> "handler of SIG" + name;
                  });
      Object signal = signalType.getConstructor(String.class).newInstance(name);
      signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, handler);
    } catch (ReflectiveOperationException unsupported) {
      throw new IllegalStateException("SIG" + name + " cannot be handled", unsupported);
    }
  }
}
