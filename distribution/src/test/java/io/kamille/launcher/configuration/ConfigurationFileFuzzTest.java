package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationFileFuzzTest {

  private static final long SEED = FuzzBudget.SEED;

  private static final List<String> WORDS =
      List.of(
          "[",
          "]",
          "{",
          "}",
          ": ",
          "- ",
          "? ",
          "&a ",
          "*a",
          "!!str ",
          "|\n",
          ">-\n",
          "\"",
          "'",
          "#",
          "\n",
          "  ",
          "\t",
          "---\n",
          "...\n",
          "%YAML 1.2\n",
          "~",
          "\\x",
          "\u0000",
          "\uFEFF",
          "\uD800",
          "ü",
          "on",
          "off",
          "0",
          "-1",
          "99999999999999999999",
          "1e9",
          "8GiB",
          "1ms",
          ":0",
          "<<: *a\n",
          "http://",
          "routes:\n",
          "listeners:",
          "upstreams:\n  a:",
          "cache: ",
          "memory: ");

  @Test
  void noTextEndsInAnException() throws IOException {
    byte[] shipped = Files.readAllBytes(ShippedConfigurationTest.FILE);
    byte[] uncommented = new String(shipped, UTF_8).replace("# ", "").getBytes(UTF_8);
    var random = new Random(SEED);
    FuzzBudget budget = new FuzzBudget(400);
    while (budget.hasNext()) {
      byte[] text = random.nextBoolean() ? shipped : uncommented;
      for (int i = random.nextInt(8); i >= 0; i--) {
        text = mutated(text, random);
      }
      check(text, budget.round());
    }
    budget.report("configurations");
  }

  static void check(byte[] text, long round) {
    String label = "seed " + SEED + ", round " + round;
    try {
      if (ConfigurationFile.parse("f", text)
          instanceof ConfigurationReading.Refused(var problems)) {
        assertThat(problems).as(label).isNotEmpty();
        long lines = 1 + new String(text, UTF_8).lines().count();
        for (Problem problem : problems) {
          assertThat(problem.position().line())
              .as("%s: %s", label, problem)
              .isBetween(isOfTheWhole(problem) ? 0 : 1, (int) lines);
          assertThat(problem.toString()).as(label).hasSizeLessThan(1_000).doesNotContain("\n");
        }
      }
    } catch (RuntimeException e) {
      throw new AssertionError(label, e);
    }
  }

  /** Whether it says how many more there are, and so belongs to no line. */
  private static boolean isOfTheWhole(Problem problem) {
    return problem.found().endsWith(" more problems");
  }

  private static byte[] mutated(byte[] text, Random random) {
    int from = random.nextInt(text.length + 1);
    int to = Math.min(text.length, from + random.nextInt(40));
    return switch (random.nextInt(5)) {
      case 0 -> spliced(text, from, to, new byte[0]);
      case 1 -> spliced(text, from, from, WORDS.get(random.nextInt(WORDS.size())).getBytes(UTF_8));
      case 2 -> spliced(text, from, to, WORDS.get(random.nextInt(WORDS.size())).getBytes(UTF_8));
      case 3 -> spliced(text, from, from, new byte[] {(byte) random.nextInt(256)});
      default -> {
        int at = random.nextInt(text.length + 1);
        yield spliced(text, at, at, Arrays.copyOfRange(text, from, to));
      }
    };
  }

  private static byte[] spliced(byte[] text, int from, int to, byte[] middle) {
    byte[] result = new byte[text.length - (to - from) + middle.length];
    System.arraycopy(text, 0, result, 0, from);
    System.arraycopy(middle, 0, result, from, middle.length);
    System.arraycopy(text, to, result, from + middle.length, text.length - to);
    return result;
  }

  @ParameterizedTest
  @Timeout(30)
  @ValueSource(
      strings = {
        "listeners:\n| - :80\n",
        "listeners:\n| - {}\n",
        "upstreams:\n| a%d:\n",
        "upstreams:\n a:\n  origins:\n|   - http://a:80\n",
        "routes:\n| - upstream: a\n",
        "routes:\n| - {upstream: a, path: /%d}\n",
        "|x%d: 1\n",
        "cache:\n|  memory:\n",
        "routes: [|{upstream: a},\n|]"
      })
  void aFileAtTheLimitIsReadInBoundedTime(String pattern) {
    String[] parts = pattern.split("\\|", 3);
    var text = new StringBuilder(parts[0]);
    for (int i = 0; text.length() < ConfigTree.LIMIT_BYTES - 100; i++) {
      text.append(parts[1].replace("%d", Integer.toString(i)));
    }
    check(text.toString().getBytes(UTF_8), 0);
  }
}
