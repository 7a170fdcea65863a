package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.load.OriginTarget.Trait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginTargetTest {

  @Test
  void whatIsAsUsualIsNotSaid() {
    assertThat(OriginTarget.of(17, 4500).text()).isEqualTo("/made/17?length=4500");
    assertThat(OriginTarget.of(0, 0).text()).isEqualTo("/made/0");
  }

  @ParameterizedTest
  @EnumSource
  void everyTraitIsReadAsItWasWritten(Trait trait) {
    OriginTarget target = OriginTarget.of(17, 4500).with(trait, 12_345);
    OriginTarget read = OriginTarget.parse(target.text());
    assertThat(read.object()).isEqualTo(17);
    for (Trait each : Trait.values()) {
      assertThat(read.of(each)).isEqualTo(target.of(each));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/hit/1", "/made/x", "/made/1?length", "/made/1?length=x", "/made/1?colour=1"})
  void whatIsNotOursIsRejected(String text) {
    assertThatThrownBy(() -> OriginTarget.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
