package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsersTest {

  /** Of "secret", by crypt(3) of glibc. */
  private static final String SECRET =
      "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

  /** Of "wrongone", at twice the cost. */
  private static final String OTHER =
      "$2y$05$abcdefghijklmnopqrstuu0tUaQldRdOhsY6nOLirqgO56Sv1Z1Me";

  @ParameterizedTest
  @ValueSource(strings = {"$2a$", "$2b$", "$2y$"})
  void bcryptIsReadAsOthersWriteIt(String kind) throws IOException {
    Users users = users("anna:" + kind + SECRET.substring(4));
    assertThat(users.admits("anna", utf8("secret"))).isTrue();
    assertThat(users.admits("anna", utf8("Secret"))).isFalse();
    assertThat(users.admits("anna", utf8(""))).isFalse();
    assertThat(users.admits("Anna", utf8("secret"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "$pbkdf2-sha256$1000$MDEyMzQ1Njc4OWFiY2RlZg$YMi.y7.HxDGx3R5NuspMr44gMRSvWcqs5kZBls6aAFo",
        "$pbkdf2-sha512$1000$MDEyMzQ1Njc4OWFiY2RlZg$hUIjazoG8MPXetiWZOf1LyzPHcBWaHG/QCbDVqoWR9R8"
            + "ZkZ6DqGYdbMz/PU.rJH.jT05rpxP.jaqDShwApKQZA"
      })
  void pbkdf2IsReadAsPasslibWritesIt(String hash) throws IOException {
    Users users = users("anna:" + hash);
    assertThat(users.admits("anna", utf8("se:crät"))).isTrue();
    assertThat(users.admits("anna", utf8("se:crat"))).isFalse();
    assertThat(users.admits("anna", new byte[] {(byte) 0xff})).isFalse();
    assertThat(users.admits("anna", new byte[0])).isFalse();
  }

  @Test
  void aFileInAnotherEncodingIsRefused() {
    byte[] latin1 = ("# users\nj\u00f6rg:" + SECRET).getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> Users.parse(latin1)).hasMessage("line 2: expected: UTF-8 text");
  }

  @ParameterizedTest
  @ValueSource(strings = {"anna :", "anna\t:", "anna\u00a0:"})
  void aNameThatEndsWithABlankIsRefused(String name) {
    assertThatThrownBy(() -> users(name + SECRET)).hasMessage("line 1: expected: NAME:HASH");
  }

  @Test
  void nulIsNoPartOfAPassword() throws IOException {
    Users users = users("anna:" + SECRET);
    assertThat(users.find(base64("anna:secret"))).isNotNull();
    assertThat(users.find(base64("anna:secret\0secret"))).isNull();
    assertThat(users.find(base64("anna:secret\0"))).isNull();
  }

  @Test
  void aByteOrderMarkIsNoPartOfAName(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("users"), "\uFEFFanna:" + SECRET + "\n");
    assertThat(AuthSource.read(file, Users::parse).byName()).containsOnlyKeys("anna");
  }

  @Test
  void theTimeOfAnUnknownNameIsThatOfAKnownOne() {
    List<String> checked = new ArrayList<>();
    PasswordHash cheap = new PasswordHash("", _ -> checked.add("cheap"));
    PasswordHash dear = new PasswordHash("", _ -> checked.add("dear"));
    Users users = new Users(Map.of("anna", cheap, "bert", dear), List.of(cheap, dear));
    for (String name : List.of("anna", "nobody", "nobody", "nobodx", "bert")) {
      users.admits(name, utf8("x"));
    }
    assertThat(checked).hasSize(5);
    assertThat(checked.get(1)).isEqualTo(checked.get(2)).isNotEqualTo(checked.get(3));
    assertThat(users.admits("nobody", utf8("x"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "anna",
        ":x",
        "anna:secret",
        "anna:$apr1$x$y",
        "anna:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
        "anna:$2y$03$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW",
        "anna:$2y$17$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW",
        "anna:$2x$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW",
        "anna:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WI",
        "anna:$pbkdf2-sha256$1000$MDEyMzQ1Njc4OWFiY2RlZg$YMi",
        "anna:$pbkdf2-sha256$10000000$MDEyMzQ1Njc4OWFiY2RlZg$YMi.y7.HxDGx3R5NuspMr44gMRSvWcqs5kZ",
        "bert:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
      })
  void aWrongLineIsNamedAndNotShown(String line) {
    assertThatThrownBy(() -> users("bert:" + SECRET + "\n\n# note\n" + line))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("line 4: expected: ")
        .hasMessageNotContaining("secret");
  }

  @Test
  void aNameHas255CharactersAtTheMost() throws IOException {
    assertThat(users("n".repeat(255) + ":" + SECRET)).isNotNull();
    for (int length : new int[] {256, 100_000}) {
      assertThatThrownBy(() -> users("n".repeat(length) + ":" + SECRET))
          .hasMessage("line 1: expected: NAME:HASH");
    }
  }

  @Test
  void allWrongLinesAreNamedToALimit() {
    assertThatThrownBy(() -> users("anna\nbert:" + SECRET + "\nbert:" + SECRET + "\n:x\n"))
        .hasMessage(
            "line 1: expected: NAME:HASH; line 3: expected: each name once;"
                + " line 4: expected: NAME:HASH");
    assertThatThrownBy(() -> users("x\n".repeat(12)))
        .hasMessageContaining("line 10: ")
        .hasMessageEndingWith("; and 2 more lines");
  }

  @Test
  void aFileWithoutUsersIsWrong() {
    assertThatThrownBy(() -> users("# nobody\n")).hasMessageContaining("at least one user");
  }

  @Test
  void aFileThatIsWrongOrGoneKeepsWhatItHadLast(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("users"), "anna:" + SECRET + "\n");
    AuthSource<Users> source = new AuthSource<>(file, Users::parse);
    source.poll();
    var first = source.known();
    assertThat(first).isNotNull();
    source.poll();
    assertThat(source.known()).isSameAs(first);
    Files.writeString(file, "anna:" + SECRET.substring(9));
    source.poll();
    assertThat(source.known()).isSameAs(first);
    Files.delete(file);
    source.poll();
    assertThat(source.known()).isSameAs(first);
    Files.writeString(file, "bert:" + OTHER + "\n");
    source.poll();
    assertThat(Objects.requireNonNull(source.known()).value().byName()).containsOnlyKeys("bert");
  }

  private static Users users(String text) throws IOException {
    return Users.parse(utf8(text));
  }

  private static String base64(String pair) {
    return Base64.getEncoder().encodeToString(utf8(pair));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
