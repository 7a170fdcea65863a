package io.kamille.launcher.acme;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The operator's program that publishes TXT records (RFC 8555 §8.4). It is started without a shell,
 * and what it prints on standard error goes where ours goes: it may hold secrets, so neither our
 * log nor the API repeats it. Stateless; blocks.
 */
final class DnsHook {

  private DnsHook() {}

  /**
   * Runs it to its end.
   *
   * @param hook the program and its first words
   * @param word {@code present} or {@code cleanup}
   * @throws IOException if it cannot be started, fails, or takes longer than {@code limit}
   */
  static void run(List<String> hook, String word, Proof proof, Duration limit)
      throws IOException, InterruptedException {
    String value =
        Base64.getUrlEncoder().withoutPadding().encodeToString(Proof.sha256(proof.authorization()));
    List<String> command = new ArrayList<>(hook);
    command.addAll(List.of(word, "_acme-challenge." + proof.name(), value));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Redirect.from(new File("/dev/null")))
            .redirectOutput(Redirect.DISCARD)
            .redirectError(Redirect.INHERIT)
            .start();
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException(
            hook.getFirst() + " " + word + " took longer than " + limit.toSeconds() + " s");
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new IOException(hook.getFirst() + " " + word + " ended with " + process.exitValue());
    }
  }
}
