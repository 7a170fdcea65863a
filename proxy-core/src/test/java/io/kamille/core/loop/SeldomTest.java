package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SeldomTest {

  /** The times of two loops: one is a little behind the other. */
  @Test
  void ofAllWhoAskOneDoesItInAWhile() {
    var seldom = new Seldom(60);
    assertThat(seldom.isDue(-1_000)).isTrue();
    assertThat(seldom.isDue(-1_001)).isFalse();
    assertThat(seldom.isDue(-941)).isFalse();
    assertThat(seldom.isDue(-940)).isTrue();
    assertThat(seldom.isDue(-940)).isFalse();
  }
}
