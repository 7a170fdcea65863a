package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PacingOptionsTest {

  private static PacingOptions parse(String... words) {
    return PacingOptions.parse(List.of(words));
  }

  @Test
  void withoutWordsOffAndAdaptiveAreComparedOnSmallHits() {
    PacingOptions options = parse();
    assertThat(options.ways()).containsExactly("off", "adaptive");
    assertThat(options.ratesOrDefault()).containsExactly(1000, 2000, 10_000, 20_000, 50_000);
    assertThat(options.subject().path()).isEqualTo("/hit/1024");
    assertThat(options.connections()).isEqualTo(200);
    assertThat(options.unusedConnections()).isZero();
    assertThat(options.hasCapacity()).isTrue();
    assertThat(options.isStep()).isFalse();
  }

  @Test
  void everyWordHasItsEffect() {
    PacingOptions options =
        parse(
            "--quick",
            "--ways",
            "off,250us",
            "--fixed",
            "--rates",
            "10,20000",
            "--open",
            "7000",
            "--no-capacity",
            "--step",
            "--record",
            "2026-11-21-pacing");
    assertThat(options.rounds()).isEqualTo(2);
    assertThat(options.seconds()).isEqualTo(1);
    assertThat(options.ways()).containsExactly("off", "250us", "500us", "1ms");
    assertThat(options.ratesOrDefault()).containsExactly(10, 20_000);
    assertThat(options.unusedConnections()).isEqualTo(6800);
    assertThat(options.hasCapacity()).isFalse();
    assertThat(options.isStep()).isTrue();
    assertThat(options.record()).isEqualTo("2026-11-21-pacing");
  }

  @Test
  void whatCostsMoreIsAskedForLessOften() {
    assertThat(parse("--misses").subject().path()).isEqualTo("/pass/1024");
    assertThat(parse("--misses").ratesOrDefault()).endsWith(10_000);
    assertThat(parse("--size", "65536").subject().label()).isEqualTo("64 KiB hit");
    assertThat(parse("--size", "65536").ratesOrDefault()).endsWith(10_000);
  }

  @Test
  void whatIsNotUnderstoodIsNamed() {
    assertThatThrownBy(() -> parse("--fast", "1")).hasMessage("unknown option --fast");
    assertThatThrownBy(() -> parse("--rounds"))
        .hasMessage("--rounds: unknown option, or nothing behind it");
    assertThatThrownBy(() -> parse("--rounds", "0"))
        .hasMessageStartingWith("--rounds: 0 (expected");
    assertThatThrownBy(() -> parse("--ways", "off,fast")).hasMessageStartingWith("--ways: fast");
    assertThatThrownBy(() -> parse("--rates", "10,")).hasMessageStartingWith("--rates:  (expected");
    assertThatThrownBy(() -> parse("--record", "../p")).hasMessageStartingWith("--record: ../p");
  }
}
