package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.auth.Checks.Asker;
import io.kamille.core.auth.Checks.Check;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Checks that wait, are dropped, and are run. */
class ChecksTest {

  private static final int PLACES = 4;

  private final Checks checks = new Checks(1, PLACES, "checks");
  private final CountDownLatch begins = new CountDownLatch(1);
  private final CountDownLatch hasBegun = new CountDownLatch(1);
  private final AtomicInteger runs = new AtomicInteger();

  private static byte[] octets(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static Asker asker(int number) throws Exception {
    return Asker.of(InetAddress.getByAddress(octets(number)), "name");
  }

  private Check ask(int number) throws Exception {
    return checks.ask(
        octets(number),
        asker(number),
        () -> {
          hasBegun.countDown();
          try {
            begins.await();
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
          runs.incrementAndGet();
          return Found.refused(JwtCheck.NO_TOKEN);
        });
  }

  @Test
  void whatHasAPlaceIsRunHoweverManyCameAndLeft() throws Exception {
    try (checks) {
      List<Check> left = new ArrayList<>();
      Check running = ask(0);
      hasBegun.await();
      for (int i = 1; i <= 1_000; i++) {
        Check check = ask(i);
        if (i <= PLACES) {
          left.add(check);
        } else {
          check.leave();
        }
      }
      running.leave();
      begins.countDown();
      for (Check check : left) {
        check.found().get(10, TimeUnit.SECONDS);
      }
      assertThat(runs.get()).isEqualTo(PLACES + 1);
      ask(2_000).found().get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void ofThoseThatAreKnownTheOldestMakesRoom() throws Exception {
    try (checks) {
      int most = 4096;
      for (int i = 0; i <= most; i++) {
        checks.passed(asker(i));
      }
      ask(10_000);
      hasBegun.await();
      for (int i = 1; i <= PLACES; i++) {
        ask(10_000 + i);
      }
      assertThat(ask(0).found()).as("forgotten, as anybody else").isCompletedExceptionally();
      for (int i : List.of(1, most)) {
        assertThat(ask(i).found()).as("known, before the others").isNotDone();
      }
      begins.countDown();
      ask(1).found().get(10, TimeUnit.SECONDS);
    }
  }
}
