package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** RFC 9110 §5: field lines. */
class FieldsTest {

  @Test
  void linesKeepOrderCaseAndDuplicates() {
    var fields = Fields.of("X-b", "1", "AGE", "2", "x-B", "3");
    assertThat(fields.toString()).isEqualTo("X-b: 1\nAGE: 2\nx-B: 3\n");
    assertThat(fields.size()).isEqualTo(3);
    assertThat(fields.all("X-B")).containsExactly("1", "3");
  }

  @Test
  void knownNamesAreFoundInAnyCase() {
    var fields = Fields.of("x", "0", "aGe", "1", "Age", "2");
    assertThat(fields.has(FieldName.AGE)).isTrue();
    assertThat(fields.first(FieldName.AGE)).isEqualTo("1");
    assertThat(fields.count(FieldName.AGE)).isEqualTo(2);
    assertThat(fields.indexOf(FieldName.AGE)).isEqualTo(1);
    assertThat(fields.indexOf(FieldName.AGE, 2)).isEqualTo(2);
    assertThat(fields.indexOf(FieldName.AGE, 3)).isEqualTo(-1);
    assertThat(fields.joined(FieldName.AGE)).isEqualTo("1, 2");
    assertThat(fields.knownAt(0)).isNull();
    assertThat(fields.knownAt(1)).isEqualTo(FieldName.AGE);
  }

  @Test
  void anAbsentNameHasNothing() {
    var fields = Fields.of("x", "0");
    assertThat(fields.has(FieldName.AGE)).isFalse();
    assertThat(fields.first(FieldName.AGE)).isNull();
    assertThat(fields.joined(FieldName.AGE)).isNull();
    assertThat(fields.all(FieldName.AGE)).isEmpty();
    assertThat(fields.all("age")).isEmpty();
    assertThat(fields.count(FieldName.AGE)).isZero();
    assertThat(fields.indexOf(FieldName.AGE)).isEqualTo(-1);
  }

  @Test
  void aMaskAsksForSeveralNamesAtOnce() {
    long mask = Fields.mask(FieldName.AGE, FieldName.ETAG);
    assertThat(Fields.of("ETag", "x").hasAny(mask)).isTrue();
    assertThat(Fields.of("Date", "x").hasAny(mask)).isFalse();
  }

  @Test
  void removingTakesEveryLineOfTheName() {
    var fields = Fields.of("Age", "1", "x", "2", "age", "3", "X", "4", "y", "5");
    fields.remove(FieldName.AGE);
    assertThat(fields.toString()).isEqualTo("x: 2\nX: 4\ny: 5\n");
    assertThat(fields.has(FieldName.AGE)).isFalse();
    fields.remove("x");
    assertThat(fields.toString()).isEqualTo("y: 5\n");
    fields.add("Age", "6");
    fields.remove("aGE");
    assertThat(fields.has(FieldName.AGE)).isFalse();
  }

  @Test
  void settingReplacesEveryLineByOne() {
    var fields = Fields.of("Age", "1", "x", "2", "age", "3");
    fields.set(FieldName.AGE, "9");
    assertThat(fields.toString()).isEqualTo("x: 2\nAge: 9\n");
  }

  @Test
  void aCopyIsIndependent() {
    var fields = Fields.of("Age", "1");
    var copy = fields.copy();
    fields.set(FieldName.AGE, "2");
    copy.add("x", "3");
    assertThat(copy.toString()).isEqualTo("Age: 1\nx: 3\n");
    assertThat(fields.toString()).isEqualTo("Age: 2\n");
  }

  @Test
  void clearingForgetsEverything() {
    var fields = Fields.of("Age", "1");
    fields.clear();
    assertThat(fields.size()).isZero();
    assertThat(fields.has(FieldName.AGE)).isFalse();
    fields.add("x", "2");
    assertThat(fields.toString()).isEqualTo("x: 2\n");
  }

  @Test
  void linesCanComeFromAnotherSection() {
    var from = Fields.of("x", "1", "Age", "2");
    var to = Fields.of("y", "0");
    to.addFrom(from, 1);
    assertThat(to.first(FieldName.AGE)).isEqualTo("2");
    assertThat(to.toString()).isEqualTo("y: 0\nAge: 2\n");
  }

  @Test
  void linesAreWrittenWithTheirEnds() {
    var out = Unpooled.buffer();
    Fields.of("X", "a", "y", "").writeTo(out);
    assertThat(out.toString(StandardCharsets.ISO_8859_1)).isEqualTo("X: a\r\ny: \r\n");
    out.release();
  }

  @Test
  void valuesKeepEveryOctet() {
    assertThat(Fields.of("x", "\u00fc\u00ff\t\u0080").valueAt(0)).isEqualTo("\u00fc\u00ff\t\u0080");
  }

  @Test
  void behavesAsAPlainListOfLinesWould() {
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    String[] names = {"Age", "aGE", "Date", "X-a", "x-A", "X-b", "Cache-Control"};
    for (int round = 0; round < 300; round++) {
      Fields fields = new Fields();
      List<String[]> model = new ArrayList<>();
      for (int step = 0; step < 60; step++) {
        String name = names[random.nextInt(names.length)];
        String value = "v".repeat(random.nextInt(40)) + step;
        FieldName known = FieldName.of(name);
        switch (random.nextInt(8)) {
          case 0 -> {
            fields.remove(name);
            model.removeIf(line -> line[0].equalsIgnoreCase(name));
          }
          case 1 -> {
            if (known != null) {
              fields.set(known, value);
              model.removeIf(line -> line[0].equalsIgnoreCase(name));
              model.add(new String[] {known.text(), value});
            }
          }
          case 2 -> fields = fields.copy();
          default -> {
            fields.add(name, value);
            model.add(new String[] {name, value});
          }
        }
        assertSame(fields, model, seed);
      }
    }
  }

  private static void assertSame(Fields fields, List<String[]> model, long seed) {
    StringBuilder expected = new StringBuilder();
    for (String[] line : model) {
      expected.append(line[0]).append(": ").append(line[1]).append('\n');
    }
    assertThat(fields.toString()).as("seed %d", seed).isEqualTo(expected.toString());
    for (FieldName name : new FieldName[] {FieldName.AGE, FieldName.DATE, FieldName.ETAG}) {
      String lower = name.text().toLowerCase(Locale.ROOT);
      boolean isThere =
          model.stream().anyMatch(line -> line[0].toLowerCase(Locale.ROOT).equals(lower));
      assertThat(fields.has(name)).as("seed %d: %s", seed, name).isEqualTo(isThere);
    }
  }
}
