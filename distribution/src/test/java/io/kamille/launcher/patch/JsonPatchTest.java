package io.kamille.launcher.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** RFC 6902 on a YAML text. */
class JsonPatchTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static final String TEXT =
      """
      # the whole
      routes:
        # the shop
        - path: /shop   # all of it
          upstream: web
        - upstream: web
      limits:
        fields: 50   # of a head
        a/b~c: x
      """;

  private static String patched(String patch) throws JsonPatch.Failed {
    return JsonPatch.apply(TEXT, JSON.readTree(patch));
  }

  private static String difference(String after) {
    List<String> before = TEXT.lines().toList();
    List<String> now = after.lines().toList();
    return Stream.concat(
            before.stream().filter(line -> !now.contains(line)).map(line -> "-" + line),
            now.stream().filter(line -> !before.contains(line)).map(line -> "+" + line))
        .collect(Collectors.joining(","));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"op\":\"replace\",\"path\":\"/limits/fields\",\"value\":60}"
            + "| -  fields: 50   # of a head,+  fields: 60   # of a head",
        "{\"op\":\"add\",\"path\":\"/limits/head\",\"value\":\"8KiB\"}| +  head: 8KiB",
        "{\"op\":\"add\",\"path\":\"/routes/-\",\"value\":{\"upstream\":\"new\"}}|+  - upstream:"
            + " new",
        "{\"op\":\"remove\",\"path\":\"/limits/a~1b~0c\"}| -  a/b~c: x",
        "{\"op\":\"copy\",\"from\":\"/limits/fields\",\"path\":\"/loops\"}| +loops: 50",
        "{\"op\":\"move\",\"from\":\"/limits/a~1b~0c\",\"path\":\"/limits/d\"}| -  a/b~c: x,+  d:"
            + " x",
        "{\"op\":\"test\",\"path\":\"/limits/fields\",\"value\":50}|''",
      })
  void oneOperationChangesItsLinesAlone(String operation, String difference) throws Exception {
    assertThat(difference(patched("[" + operation + "]")))
        .isEqualTo(difference.equals("''") ? "" : difference);
  }

  @Test
  void anItemIsPutInFrontOfAnother() throws Exception {
    String text =
        patched("[{\"op\":\"add\",\"path\":\"/routes/1\",\"value\":{\"upstream\":\"new\"}}]");
    assertThat(text).containsSubsequence("path: /shop", "- upstream: new", "- upstream: web");
    assertThat(text).contains("# the shop", "# all of it", "# of a head");
  }

  @Test
  void operationsSeeWhatThoseBeforeThemDid() throws Exception {
    assertThat(
            patched(
                "[{\"op\":\"add\",\"path\":\"/x\",\"value\":{}},"
                    + "{\"op\":\"add\",\"path\":\"/x/y\",\"value\":1},"
                    + "{\"op\":\"test\",\"path\":\"/x/y\",\"value\":\"1\"},"
                    + "{\"op\":\"move\",\"from\":\"/x/y\",\"path\":\"/z\"},"
                    + "{\"op\":\"remove\",\"path\":\"/x\"}]"))
        .isEqualTo(TEXT + "z: 1\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{}| a patch is an array",
        "[3]| op must be",
        "[{\"op\":\"replace\",\"path\":\"/none\",\"value\":1}]| there is nothing at /none",
        "[{\"op\":\"remove\",\"path\":\"/routes/2\"}]| there is nothing at /routes/2",
        "[{\"op\":\"remove\",\"path\":\"/routes/01\"}]| there is nothing at /routes/01",
        "[{\"op\":\"remove\",\"path\":\"/routes/99999999999\"}]| there is nothing",
        "[{\"op\":\"remove\",\"path\":\"/routes/-\"}]| there is nothing",
        "[{\"op\":\"add\",\"path\":\"/routes/3\",\"value\":1}]| there is nothing",
        "[{\"op\":\"add\",\"path\":\"/limits/fields/x\",\"value\":1}]| there is nothing",
        "[{\"op\":\"add\",\"path\":\"/x\"}]| value is missing",
        "[{\"op\":\"add\",\"path\":\"x\",\"value\":1}]| path must be a JSON pointer",
        "[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]| path must be a JSON pointer",
        "[{\"op\":\"move\",\"from\":\"/limits\",\"path\":\"/limits/a\"}]| cannot move into itself",
        "[{\"op\":\"copy\",\"path\":\"/x\"}]| from must be a JSON pointer",
        "[{\"op\":\"test\",\"path\":\"/limits/fields\",\"value\":51}]| another value at"
            + " /limits/fields",
      })
  void whatDoesNotFitFailsAsAWhole(String patch, String why) {
    assertThatThrownBy(() -> patched(patch))
        .isInstanceOf(JsonPatch.Failed.class)
        .hasMessageStartingWith("Operation 0: ")
        .hasMessageContaining(why);
  }

  @Test
  void copiesOfCopiesHaveALimit() {
    String patch =
        IntStream.range(0, 100)
            .mapToObj(i -> "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/again" + i + "\"}")
            .collect(Collectors.joining(",", "[", "]"));
    assertThatThrownBy(() -> patched(patch))
        .isInstanceOf(JsonPatch.Failed.class)
        .hasMessageContaining("too many values");
  }
}
