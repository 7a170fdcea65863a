package io.kamille.launcher.acme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operator's program for TXT records: what it is told, and what becomes of a bad one. */
class DnsHookTest {

  private static final Proof PROOF =
      new Proof(Way.DNS_01, "shop.test", "token", "token.thumbprint");
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir private Path directory;

  private List<String> shell(String script) {
    return List.of("/bin/sh", "-c", script, directory.toString());
  }

  @Test
  void itIsToldWordsNameAndValue() throws Exception {
    Path told = directory.resolve("told");
    List<String> hook =
        List.of("/bin/sh", "-c", "printf '%s\\n' \"$@\" > " + told, "hook", "two words", "$HOME");
    DnsHook.run(hook, "present", PROOF, LONG);
    byte[] hash =
        MessageDigest.getInstance("SHA-256")
            .digest("token.thumbprint".getBytes(StandardCharsets.US_ASCII));
    assertThat(Files.readAllLines(told))
        .containsExactly(
            "two words",
            "$HOME",
            "present",
            "_acme-challenge.shop.test",
            Base64.getUrlEncoder().withoutPadding().encodeToString(hash));
  }

  @Test
  void oneThatFailsOrIsMissingIsNamed() {
    assertThatThrownBy(() -> DnsHook.run(shell("echo secret >&2; exit 3"), "cleanup", PROOF, LONG))
        .isInstanceOf(IOException.class)
        .hasMessage("/bin/sh cleanup ended with 3");
    assertThatThrownBy(() -> DnsHook.run(List.of("/no/such/hook"), "present", PROOF, LONG))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/no/such/hook");
  }

  @Test
  void oneThatHangsIsKilledWithWhatItHasStarted() throws Exception {
    Path child = directory.resolve("child");
    String script = "sleep 1000 & echo $! > " + child + "; wait";
    assertThatThrownBy(() -> DnsHook.run(shell(script), "present", PROOF, SHORT))
        .isInstanceOf(IOException.class)
        .hasMessage("/bin/sh present took longer than 1 s");
    long pid = Long.parseLong(Files.readString(child).strip());
    Await.until(() -> ProcessHandle.of(pid).isEmpty(), "what it has started is gone");
  }

  @Test
  void muchOutputIsNoTrouble() throws Exception {
    DnsHook.run(shell("head -c 20000000 /dev/zero"), "present", PROOF, LONG);
    assertThatThrownBy(() -> DnsHook.run(shell("yes"), "present", PROOF, SHORT))
        .hasMessageContaining("took longer");
  }

  @Test
  void itReadsNothing() throws Exception {
    DnsHook.run(shell("test -z \"$(cat)\""), "present", PROOF, Duration.ofSeconds(60));
  }
}
