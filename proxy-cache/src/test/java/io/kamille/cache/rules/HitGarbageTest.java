package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Deciding about a hit makes no garbage: key, selecting fields, plan, preconditions. */
class HitGarbageTest {

  private static final long T = 1_800_000_000;
  private static final int HITS = 10_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void aHitMakesNoGarbage() {
    var request =
        RequestHead.of(
            "GET",
            "https://www.example.org/images/logo.png?v=3",
            "Accept-Encoding",
            "gzip, br",
            "If-None-Match",
            "\"x\", \"a\"");
    var response =
        ResponseHead.of(
            200, "Cache-Control", "max-age=60", "ETag", "\"a\"", "Vary", "Accept-Encoding");
    var stored = StoredFacts.of(response, CachePolicy.DEFAULT, T, T);
    var selecting = SelectingFields.of(response.fields(), request, VaryBy.NONE);
    var key = CacheKey.of(request);
    var probe = new CacheKeyProbe();
    var other = Fields.of("Date", "x");

    int decided = 0;
    long before = 0;
    for (int round = -HITS; round < HITS; round++) {
      if (round == 0) {
        before = threads.getCurrentThreadAllocatedBytes();
      }
      if (probe.keyOf(request).equals(key)
          && selecting.matches(request)
          && ReuseRule.of(request, CacheControl.ofRequest(request.fields()), stored, T + 5)
                  .decision(CacheControl.NONE, stored)
              == Decision.SERVE
          && Preconditions.isNotModified(request, stored)
          && !Preconditions.allowsRange(request, stored, false)
          && CacheControl.ofRequest(other) == CacheControl.NONE) {
        decided++;
      }
    }
    long allocatedBytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(decided).isEqualTo(2 * HITS);
    assertThat(allocatedBytes / HITS).as("%d octets in all", allocatedBytes).isZero();
  }
}
