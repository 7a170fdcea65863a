package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose token a request has (RFC 6750). */
class AuthenticatorTest {

  private static final String SECRET = "0123456789abcdefghijABCDEFGHIJ-_";

  @TempDir private Path directory;
  private Authenticator authenticator;

  @BeforeEach
  void open() throws IOException {
    TokenFile token = TokenFile.open(Files.writeString(directory.resolve("token"), SECRET));
    authenticator = new Authenticator(token, directory, WallClock.system(), () -> null);
  }

  private @Nullable Identity who(String authorization) {
    return authenticator.byToken(authorization, "192.0.2.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer " + SECRET, "bearer " + SECRET, "BEARER   " + SECRET + " "})
  void theSchemeIgnoresCase(String authorization) {
    assertThat(who(authorization)).isEqualTo(Identity.ofFile("192.0.2.1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "Bearer", "Bearer ", SECRET, "Basic " + SECRET, "Bearer " + SECRET + "a"})
  void anythingElseIsNotTheToken(String authorization) {
    assertThat(who(authorization)).isNull();
  }

  @Test
  void aRefusedFileIsNotPrinted() throws IOException {
    Path wrong = Files.writeString(directory.resolve("wrong"), SECRET + "!");
    assertThatThrownBy(() -> TokenFile.open(wrong))
        .isInstanceOf(IOException.class)
        .message()
        .doesNotContain(SECRET);
  }
}
