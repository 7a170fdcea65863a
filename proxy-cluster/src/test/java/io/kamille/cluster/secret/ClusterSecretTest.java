package io.kamille.cluster.secret;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterSecretTest {

  @TempDir private Path directory;

  private ClusterSecret secret(byte[] content) throws IOException {
    return ClusterSecret.read(Files.write(directory.resolve("secret"), content));
  }

  /** RFC 5869, appendix A.3. */
  @Test
  void keysAreThoseOfHkdf() throws IOException {
    byte[] content = new byte[22];
    Arrays.fill(content, (byte) 0x0b);
    assertThat(HexFormat.of().formatHex(secret(content).key("", 42)))
        .isEqualTo(
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
  }

  @Test
  void aValueOpensUnderItsNameAndItsSecretAlone() throws IOException {
    ClusterSecret secret = secret("a".repeat(32).getBytes(US_ASCII));
    byte[] content = "key".getBytes(US_ASCII);
    byte[] sealed = secret.seal("name", content);
    assertThat(secret.open("name", sealed)).isEqualTo(content);
    assertThat(secret.seal("name", content)).as("a nonce of its own").isNotEqualTo(sealed);
    assertThat(secret.open("other", sealed)).isNull();
    assertThat(secret("b".repeat(32).getBytes(US_ASCII)).open("name", sealed)).isNull();
    for (int length = 0; length < sealed.length; length++) {
      assertThat(secret.open("name", Arrays.copyOf(sealed, length))).isNull();
    }
    sealed[sealed.length - 1]++;
    assertThat(secret.open("name", sealed)).isNull();
  }

  @Test
  void eachPurposeHasAKeyOfItsOwn() throws IOException {
    ClusterSecret secret = secret("a".repeat(32).getBytes(US_ASCII));
    assertThat(secret.key("a", 32)).isNotEqualTo(secret.key("b", 32));
    assertThatThrownBy(() -> ClusterSecret.read(directory.resolve("none")))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("cluster.secret-file: ");
  }
}
