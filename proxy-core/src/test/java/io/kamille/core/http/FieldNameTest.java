package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldNameTest {

  @ParameterizedTest
  @EnumSource(FieldName.class)
  void everyNameIsFoundInAnyCase(FieldName name) {
    assertThat(FieldName.of(name.text())).isEqualTo(name);
    assertThat(FieldName.of(name.text().toLowerCase(Locale.ROOT))).isEqualTo(name);
    assertThat(FieldName.of(name.text().toUpperCase(Locale.ROOT))).isEqualTo(name);
    assertThat(FieldName.ofNumber(name.ordinal())).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "X-Test", "Cache-Contro", "Cache-Control ", "Age\u0000", "Ag\u00e9"})
  void anyOtherNameIsUnknown(String name) {
    assertThat(FieldName.of(name)).isNull();
  }

  @Test
  void everyNameHasABitOfItsOwn() {
    Set<Long> bits = new HashSet<>();
    for (FieldName name : FieldName.values()) {
      assertThat(Long.bitCount(name.bit())).isEqualTo(1);
      assertThat(bits.add(name.bit())).as("%s", name).isTrue();
    }
  }

  @Test
  void namesBehindThe63rdShareABit() {
    assertThat(FieldName.bit(0)).isEqualTo(1);
    assertThat(FieldName.bit(62)).isNotEqualTo(FieldName.bit(63));
    assertThat(FieldName.bit(64)).isEqualTo(FieldName.bit(63));
    assertThat(FieldName.bit(200)).isEqualTo(FieldName.bit(63));
  }
}
