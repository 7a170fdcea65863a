package io.kamille.core.setting;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ConfigTreeTest {

  @Test
  void nodesKnowTheirLineAndColumnCountedFromOne() {
    var root = (ConfigNode.Mapping) parse("# comment\na:\n  - 1\n  - {b: \"x\"}\n");
    ConfigNode.Entry a = root.entries().getFirst();
    assertThat(a.position()).isEqualTo(new Position(2, 1));
    var list = (ConfigNode.Sequence) a.value();
    assertThat(list.items().get(0).position()).isEqualTo(new Position(3, 5));
    var inner = (ConfigNode.Mapping) list.items().get(1);
    assertThat(inner.entries().getFirst().value())
        .isEqualTo(new ConfigNode.Scalar("x", true, new Position(4, 9)));
  }

  @Test
  void columnsCountCharactersNotOctets() {
    var root = (ConfigNode.Mapping) parse("{😀ü: x}");
    assertThat(root.entries().getFirst().value().position()).isEqualTo(new Position(1, 6));
  }

  /** A reader that takes a text in pieces must not part the halves of a character. */
  @Test
  void aCharacterOfTwoHalvesMayStandAnywhere() {
    for (int before = 0; before < 3_000; before++) {
      var root = (ConfigNode.Mapping) parse("# " + "x".repeat(before) + "😀\na: 1");
      assertThat(root.entries().getFirst().key()).as(before + " before").isEqualTo("a");
    }
  }

  @Test
  void anAliasStandsForItsAnchor() {
    var root = (ConfigNode.Mapping) parse("a: &x [1, 2]\nb: *x\n");
    assertThat(root.entries().get(1).value()).isEqualTo(root.entries().get(0).value());
  }

  @Test
  void aByteOrderMarkIsNoText() {
    var root = (ConfigNode.Mapping) parse("\uFEFFa: 1");
    assertThat(root.entries().getFirst().key()).isEqualTo("a");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " \n", "# only a comment\n", "---\n", "~", "null", "---\n...\n"})
  void anEmptyFileIsAProblem(String text) {
    assertThat(problem(text)).isEqualTo("f.yaml:1:1: found an empty file, expected settings");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a: b: c | f.yaml:1:5: found a colon where no key may stand, expected other indentation, or"
            + " quotes around text with a colon",
        "a: 1;  b: 2 | f.yaml:2:4: found a colon where no key may stand, expected other",
        "a: [1, 2 | f.yaml:1:9: found a list in brackets that does not end here, expected a comma"
            + " or ]",
        "a: {b: 1 | f.yaml:1:9: found a section in braces that does not end here, expected a comma",
        "a: \"x | f.yaml:1:6: found quotes that do not end, expected a closing quote",
        "a:;\tb: 1 | f.yaml:2:1: found a tab, expected spaces: YAML indents by nothing else",
        "a: @b | f.yaml:1:4: found the character @, expected quotes around text that begins with"
            + " it",
        "a: *; | f.yaml:1:5: found a * without a name, expected quotes around text that begins",
        "a: 1;b;c: 1 | f.yaml:3:1: found a key without a colon, expected KEY: VALUE",
        "a: 1;- b | f.yaml:2:1: found something other than a key, expected all keys of a section"
            + " in",
        "- a;b: 1 | f.yaml:2:1: found something other than an item, expected all dashes of a list",
        "a: \"\\q\" | f.yaml:1:6: found broken YAML: found unknown escape character q, expected"
            + " YAML 1.2",
        "%YAML 3.0;---;a: 1 | f.yaml:1:1: found broken YAML: Version",
        "a: 1;---;b: 2 | f.yaml:2:1: found a second document, expected one document",
        "a: !!int 1 | f.yaml:1:4: found the tag \"tag:yaml.org,2002:int\", expected no tags",
        "a: !x {} | f.yaml:1:4: found the tag \"!x\", expected no tags",
        "a: 1;[b]: 2 | f.yaml:2:1: found a list as a key, expected a name",
        "a: *b | f.yaml:1:4: found the alias *b, expected an anchor of this name",
        "a: &a [*a] | f.yaml:1:8: found the alias *a, expected an anchor of this name"
      })
  void brokenYamlIsNamedWithItsPlace(String text, String expected) {
    assertThat(problem(text.replace(';', '\n'))).startsWith(expected).doesNotContain("\n", "(");
  }

  @Test
  void textMustBeUtf8() {
    assertThat(problem("a: 1\nb: schön".getBytes(ISO_8859_1)))
        .isEqualTo("f.yaml:2:7: found octet 0xF6, expected UTF-8 text");
  }

  @Test
  void aCharacterCutOffAtTheEndIsNotUtf8() {
    byte[] text = "a: ü".getBytes(UTF_8);
    assertThat(problem(Arrays.copyOf(text, text.length - 1)))
        .isEqualTo("f.yaml:1:4: found octet 0xC3, expected UTF-8 text");
  }

  @Test
  void controlCharactersAreRefused() {
    assertThat(problem("a: 1\nb: \u0001"))
        .isEqualTo("f.yaml:2:4: found control character U+0001, expected printable text");
  }

  @Test
  void aHugeFileIsRefused() {
    assertThat(problem("#\n".repeat(ConfigTree.LIMIT_BYTES)))
        .isEqualTo("f.yaml: found more than 4MiB, expected a smaller file");
  }

  @Test
  void aHugeLineIsRefused() {
    assertThat(problem("a: 1\nb: " + "x".repeat(100_000)))
        .isEqualTo("f.yaml:2:1: found more than 65536 characters, expected shorter lines");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{a: ", "- ", "? "})
  void deepNestingIsRefused(String level) {
    assertThat(problem(level.repeat(10_000)))
        .contains("found more than 32 levels of nesting, expected fewer");
  }

  @Test
  void aShortTextCannotStandForAHugeTree() {
    var bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 20; i++) {
      String all = ("*a" + (i - 1) + ", ").repeat(10);
      bomb.append(String.format(Locale.ROOT, "a%d: &a%d [%s]\n", i, i, all));
    }
    assertThat(problem(bomb.toString())).contains("found more than 200000 values and lists");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "- ",
        "a: 1\n",
        "- a\n",
        "'",
        "'\n",
        "\"\n",
        "&a ",
        "*a ",
        "?\n",
        ":",
        "|\n",
        "#\n",
        "\n",
        "a\n",
        "a:\n ",
        "---\n",
        "[a,\n",
        "[]\n",
        "\t\n",
        "'a': 'b'\n"
      })
  void fourMebibytesOfAnythingAreReadInBoundedTime(String text) {
    byte[] content = text.repeat(ConfigTree.LIMIT_BYTES / text.length()).getBytes(UTF_8);
    var problems = new Problems("f.yaml");
    boolean isRead = ConfigTree.parse(content, problems) != null;
    assertThat(problems.isEmpty()).isEqualTo(isRead);
  }

  private static ConfigNode parse(String text) {
    var problems = new Problems("f.yaml");
    ConfigNode root = ConfigTree.parse(text.getBytes(UTF_8), problems);
    assertThat(problems.inOrder()).isEmpty();
    assertThat(root).isNotNull();
    return Objects.requireNonNull(root);
  }

  private static String problem(String text) {
    return problem(text.getBytes(UTF_8));
  }

  private static String problem(byte[] content) {
    var problems = new Problems("f.yaml");
    assertThat(ConfigTree.parse(content, problems)).isNull();
    assertThat(problems.inOrder()).hasSize(1);
    return problems.inOrder().getFirst().toString();
  }
}
