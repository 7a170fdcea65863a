package io.kamille.core.log;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Gives every {@link System.Logger} its way to the operational log. Any thread. */
public final class LineLoggerFinder extends System.LoggerFinder {

  private final ConcurrentMap<String, System.Logger> loggers = new ConcurrentHashMap<>();

  /** Called by the platform, which finds the class by its service entry. */
  public LineLoggerFinder() {}

  @Override
  public System.Logger getLogger(String name, Module module) {
    return loggers.computeIfAbsent(
        name, each -> new LineLogger(each, OperationalLog.standardError()));
  }
}
