package io.kamille.launcher.cli;

import java.lang.reflect.Proxy;

/**
 * Signals from the operating system. The JDK has had the same unsupported class for them for thirty
 * years and no other; it is reached by reflection because javac warns of its name beyond silencing.
 */
final class Signals {

  private Signals() {}

  /** Has {@code action} run, on a thread of the JVM's, whenever signal {@code name} comes. */
  static void on(String name, Runnable action) {
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
