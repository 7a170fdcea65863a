package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenFileTest {

  private static final String TOKEN = "0123456789abcdefghijABCDEFGHIJ-._~+/==";

  @TempDir private Path directory;

  @Test
  void aMissingFileIsCreatedForItsOwnerOnly() throws IOException {
    Path state = directory.resolve("state");
    Path file = state.resolve("admin-token");
    TokenFile token = TokenFile.open(file);
    assertThat(mode(file)).isEqualTo("rw-------");
    assertThat(mode(state)).isEqualTo("rwx------");
    assertThat(Files.readString(file)).matches("[A-Za-z0-9_-]{43}\n");
    assertThat(token.is(Files.readString(file).strip())).isTrue();
    try (var files = Files.list(state)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void anExistingTokenStays() throws IOException {
    Path file = directory.resolve("admin-token");
    TokenFile.open(file);
    String before = Files.readString(file);
    assertThat(TokenFile.open(file).is(before.strip())).isTrue();
    assertThat(Files.readString(file)).isEqualTo(before);
  }

  @Test
  void eachNewTokenIsAnother() throws IOException {
    TokenFile.open(directory.resolve("a"));
    TokenFile.open(directory.resolve("b"));
    assertThat(Files.readString(directory.resolve("a")))
        .isNotEqualTo(Files.readString(directory.resolve("b")));
  }

  @Test
  void aFileOpenToOthersIsTightened() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), TOKEN);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(TokenFile.open(file).is(TOKEN.strip())).isTrue();
    assertThat(mode(file)).isEqualTo("rw-------");
  }

  @Test
  void aReadOnlyFileStaysReadOnly() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), TOKEN);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
    TokenFile.open(file);
    assertThat(mode(file)).isEqualTo("r--------");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "short", "two words two words two words two words", "0123456789\n0123456789"})
  void aFileWithoutATokenIsRefused(String content) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), content);
    assertThatThrownBy(() -> TokenFile.open(file))
        .isInstanceOf(IOException.class)
        .hasMessage(file + ": not a bearer token (expected: 32 to 256 letters, digits or ._~+/-)");
  }

  @Test
  void anEndlessFileIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "a".repeat(10_000));
    assertThatThrownBy(() -> TokenFile.open(file)).isInstanceOf(IOException.class);
  }

  @Test
  void aDirectoryIsRefusedAndStaysAsItWas() throws IOException {
    assertThatThrownBy(() -> TokenFile.open(directory))
        .isInstanceOf(IOException.class)
        .hasMessage(directory + ": not a regular file");
    assertThat(mode(directory)).isEqualTo("rwx------");
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
