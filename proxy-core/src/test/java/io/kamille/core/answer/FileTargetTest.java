package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileTargetTest {

  @Test
  void aPathIsDecodedOnce() {
    assertThat(target("/")).isEmpty();
    assertThat(target("//a///b")).isEqualTo("a/b");
    assertThat(target("/a/")).isEqualTo("a/");
    assertThat(target("/a%20b/%C3%A4.txt")).isEqualTo("a b/\u00e4.txt");
    assertThat(target("/%2541")).isEqualTo("%41");
    assertThat(target("/a.b..c/d.")).isEqualTo("a.b..c/d.");
  }

  @Test
  void onlyWhatASitePublishesBeginsWithADot() {
    assertThat(target("/.well-known/acme-challenge/x")).isEqualTo(".well-known/acme-challenge/x");
    assertThat(target("/%2Ewell-known/security.txt")).isEqualTo(".well-known/security.txt");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/.",
        "/..",
        "/a/../b",
        "/a/%2e%2e/b",
        "/.git/config",
        "/%2egit",
        "/a/.b",
        "/a/.well-known/b",
        "/.well-known",
        "/.well-known/.git",
        "/.well-known/../b",
        "/.well-known/%2e%2e/b",
        "/.well-knownx/b",
        "/a%2fb",
        "/a%00.txt",
        "/a\u0000",
        "/a%",
        "/a%4",
        "/a%zz",
        "/%FF",
        "/%C0%AE%C0%AE/etc"
      })
  void whatCanMeanNoFileIsRefused(String path) {
    assertThat(target(path)).isNull();
  }

  private static @Nullable String target(String path) {
    byte[] octets = path.getBytes(StandardCharsets.ISO_8859_1);
    return FileTarget.of(octets, 0, octets.length);
  }
}
