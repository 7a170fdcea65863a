package io.kamille.launcher.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class MergePatchTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static final String TEXT =
      """
      # the whole
      listeners: ["127.0.0.1:8080"]   # one is enough

      upstreams:
        web: {origins: ["http://127.0.0.1:9000"]} # behind
      # what goes where
      routes:
        # the shop
        - path: /shop   # all of it
          upstream: web
          cache:
            ttl: 5m   # as they said
        - upstream: web
      limits:
        fields: 50
      # the end
      """;

  private static String patched(String text, String patch) {
    return MergePatch.apply(text, JSON.readTree(patch));
  }

  /** Lines that only one of them has, with their signs. */
  private static List<String> difference(String before, String after) {
    List<String> difference = new ArrayList<>();
    List<String> left = new ArrayList<>(before.lines().toList());
    for (String line : after.lines().toList()) {
      if (!left.remove(line)) {
        difference.add("+" + line);
      }
    }
    left.forEach(line -> difference.add("-" + line));
    return difference;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"limits\":{\"fields\":60}} | +  fields: 60,-  fields: 50",
        "{\"limits\":{\"requests\":1}} | +  requests: 1",
        "{\"limits\":null} | -limits:,-  fields: 50",
        "{\"loops\":2} | +loops: 2",
        "{\"cache\":{\"memory\":{\"capacity\":\"1GiB\"}}} |"
            + " +cache:,+  memory:,+    capacity: 1GiB",
        "{\"upstreams\":{\"web\":{\"weight\":\"a b\"}}} |"
            + " +  web: {origins: [\"http://127.0.0.1:9000\"], weight: \"a b\"} # behind,"
            + "-  web: {origins: [\"http://127.0.0.1:9000\"]} # behind",
        "{\"routes\":[{\"path\":\"/shop\",\"upstream\":\"web\",\"cache\":{\"ttl\":\"9m\"}},"
            + "{\"upstream\":\"web\"}]} |"
            + " +      ttl: 9m   # as they said,-      ttl: 5m   # as they said",
        "{\"routes\":[{\"upstream\":\"web\"}]} |"
            + " -  - path: /shop   # all of it,-    upstream: web,-    cache:,"
            + "-      ttl: 5m   # as they said",
      })
  void onlyTheLinesOfTheChangeDiffer(String patch, String difference) {
    assertThat(difference(TEXT, patched(TEXT, patch)))
        .containsExactly(difference.split(",(?=[+-])", -1));
  }

  @Test
  void aPatchThatChangesNothingLeavesEveryCharacter() {
    assertThat(patched(TEXT, "{\"limits\":{\"fields\":50},\"gone\":null}")).isEqualTo(TEXT);
  }

  @Test
  void anAnchorDoesNotChangeWithItsAlias() {
    String text = "a: &x {ttl: 5}\nb: *x # too\nc: 1\n";
    assertThat(patched(text, "{\"a\":{\"ttl\":6}}"))
        .satisfies(it -> assertThat(value(it)).isEqualTo(value("a: {ttl: 6}\nb: {ttl: 5}\nc: 1")))
        .contains("# too");
    assertThat(patched(text, "{\"b\":{\"ttl\":7}}"))
        .satisfies(it -> assertThat(value(it)).isEqualTo(value("a: {ttl: 5}\nb: {ttl: 7}\nc: 1")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: |\n  text\n  more\nb: 1\n",
        "a: >+\n  text\n\nb: 1\n",
        "{a: 1, b: 2,}\n",
        "? a\n: 1\n? b\n: 2\n",
        "---\na: 1\n...\n",
        "a:\nb:\n",
        "a: 1\r\nb: 2 # c\r\n",
        "a:\n- b\n- - c\n  - d\n",
        "a: 1",
        "a: \"x\\\n  y\"\nb: 'it''s'\n",
        "😀: 😀 # 😀\nb: 2\n",
        "a: &r\n  - b\n  - c\nb: *r\n"
      })
  void everyStyleCanBeChanged(String text) {
    for (String patch :
        List.of(
            "{\"a\":2}",
            "{\"a\":null}",
            "{\"a\":{\"x\":[1,{\"y\":null}]}}",
            "{\"b\":[],\"z\":{}}",
            "{\"a\":[\"b\",\"c\",\"d\"]}",
            "{\"a\":null,\"b\":null}")) {
      agrees(text, patch);
    }
  }

  private static @Nullable Object value(String text) {
    return Objects.requireNonNull(MarkedText.parse(text), text).value();
  }

  private static void agrees(String text, String patch) {
    Object wanted = MergePatch.merged(value(text), JSON.readTree(patch));
    String result = patched(text, patch);
    assertThat(value(result)).as(text + "\n+ " + patch + "\n= " + result).isEqualTo(wanted);
  }

  /** Each mark was counted from the beginning of the text. */
  @Test
  void aTextOfManyLinesIsChangedInTimeThatGrowsWithIt() {
    StringBuilder text = new StringBuilder("routes:\n");
    for (int i = 0; i < 2_000; i++) {
      text.append("  - {host: é").append(i).append(".test, upstream: app} # \ud83d\ude00\n");
    }
    assertTimeoutPreemptively(
        Duration.ofSeconds(15),
        () -> {
          agrees(text.toString(), "{\"routes\": [{\"upstream\": \"other\"}]}");
          agrees(text.toString(), "{\"loops\": 2}");
        });
  }

  /** Texts and patches of all shapes, from a seed: the values always agree. */
  @Test
  void tenThousandPatchesAgreeWithTheirTexts() {
    var random = new SplittableRandom(16);
    for (int i = 0; i < 10_000; i++) {
      Map<String, @Nullable Object> before = map(random, 3);
      before.put("last", "x");
      String text = decorated(YamlWriter.block(before, 0), random);
      agrees(text, JSON.writeValueAsString(patch(before, random)));
    }
  }

  /** With comments and blank lines, and now and then in flow style. */
  private static String decorated(String text, SplittableRandom random) {
    StringBuilder decorated = new StringBuilder();
    for (String line : text.lines().toList()) {
      String margin = line.replaceAll("\\S.*", "");
      switch (random.nextInt(6)) {
        case 0 -> decorated.append(margin).append("# about - this: [one]\n").append(line);
        case 1 -> decorated.append(line).append("   # beside");
        case 2 -> decorated.append('\n').append(line);
        default -> decorated.append(line);
      }
      decorated.append('\n');
    }
    return decorated.toString();
  }

  private static Map<String, @Nullable Object> map(SplittableRandom random, int depth) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    int size = random.nextInt(5);
    for (int i = 0; i < size; i++) {
      map.put(List.of("a", "b", "c c", "d", "null").get(random.nextInt(5)), any(random, depth));
    }
    return map;
  }

  private static @Nullable Object any(SplittableRandom random, int depth) {
    return switch (depth == 0 ? 0 : random.nextInt(4)) {
      case 1 -> map(random, depth - 1);
      case 2 -> {
        List<@Nullable Object> list = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          list.add(any(random, depth - 1));
        }
        yield list;
      }
      default ->
          List.of("1", "5m", "a b", "", "null", "~", "# no", "x: y", "é\n\t", "http://h:1/", "-")
              .get(random.nextInt(11));
    };
  }

  private static Map<String, @Nullable Object> patch(Map<?, ?> of, SplittableRandom random) {
    Map<String, @Nullable Object> patch = new LinkedHashMap<>();
    of.forEach(
        (name, value) -> {
          String key = (String) Objects.requireNonNull(name);
          switch (random.nextInt(5)) {
            case 0 -> patch.put(key, null);
            case 1 -> patch.put(key, any(random, 2));
            case 2 -> {
              if (value instanceof Map<?, ?> map) {
                patch.put(key, patch(map, random));
              } else if (value instanceof List<?> list && !list.isEmpty()) {
                List<@Nullable Object> changed = new ArrayList<>(list);
                changed.remove(random.nextInt(changed.size()));
                changed.add(random.nextInt(changed.size() + 1), any(random, 1));
                patch.put(key, changed);
              }
            }
            default -> {}
          }
        });
    if (random.nextInt(3) == 0) {
      patch.put("new", any(random, 2));
    }
    return patch;
  }
}
