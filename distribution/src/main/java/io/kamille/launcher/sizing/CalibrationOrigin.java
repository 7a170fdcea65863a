package io.kamille.launcher.sizing;

import io.kamille.launcher.origin.ScriptedAnswer;
import io.kamille.launcher.origin.ScriptedOrigin;
import java.io.IOException;
import java.util.List;

/**
 * Answers {@code /hit/LENGTH} with content that may be stored and {@code /miss/LENGTH} with content
 * that must not be.
 */
public final class CalibrationOrigin {

  private CalibrationOrigin() {}

  /** Starts on a free loopback port. */
  public static ScriptedOrigin start() throws IOException {
    return ScriptedOrigin.start(
        0,
        ScriptedOrigin.answering(
            (request, connection) -> {
              answer(request.target()).send(request, connection);
              return !request.isLast();
            }));
  }

  private static ScriptedAnswer answer(String target) {
    String[] words = target.split("/", -1);
    String life = words[1].equals("hit") ? "max-age=3600" : "no-store";
    byte[] content = new byte[Integer.parseInt(words[2])];
    return new ScriptedAnswer(200, List.of("Cache-Control: " + life), content);
  }
}
