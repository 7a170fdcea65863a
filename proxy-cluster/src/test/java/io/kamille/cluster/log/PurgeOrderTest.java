package io.kamille.cluster.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.purge.PurgeTarget.Scope;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a node writes of purges, every node reads. */
class PurgeOrderTest {

  private static final int NAME_OCTETS_LIMIT = 65_535;

  private final Random random = new Random(4);

  @Test
  void whatIsWrittenIsRead() {
    for (int round = 0; round < 300; round++) {
      List<PurgeOrder> orders = new ArrayList<>();
      for (int i = random.nextInt(5); i > 0; i--) {
        Scope kind = Scope.values()[random.nextInt(Scope.values().length)];
        List<String> names = new ArrayList<>();
        for (int j = random.nextInt(random.nextInt(20) == 0 ? 1_026 : 4); j > 0; j--) {
          names.add(text(random.nextInt(random.nextInt(90) == 0 ? 20_000 : 40)));
        }
        orders.add(order(kind, names));
      }
      assertThat(PurgeOrder.read(PurgeOrder.octets(orders))).isEqualTo(orders);
    }
  }

  @Test
  void aNameIsReadUpToItsLimitAndRefusedBeyond() {
    String longest = "x".repeat(NAME_OCTETS_LIMIT);
    List<PurgeOrder> orders = List.of(order(Scope.TAG, List.of(longest)));
    assertThat(PurgeOrder.read(PurgeOrder.octets(orders))).isEqualTo(orders);
    for (String name : List.of(longest + "x", longest.repeat(20), "\u4e00".repeat(21_846))) {
      PurgeOrder order = order(Scope.TAG, List.of(name));
      assertThatThrownBy(() -> PurgeOrder.octets(List.of(order)))
          .isInstanceOf(UncheckedIOException.class);
      assertThat(order.isReadable()).isFalse();
    }
  }

  private PurgeOrder order(Scope kind, List<String> names) {
    return new PurgeOrder(random.nextLong(), kind, names, random.nextBoolean(), random.nextLong());
  }

  private String text(int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) (random.nextInt(9) == 0 ? random.nextInt(0x10000) : random.nextInt(0x80)));
    }
    return text.toString();
  }
}
