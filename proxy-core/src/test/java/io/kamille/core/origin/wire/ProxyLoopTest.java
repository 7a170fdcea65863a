package io.kamille.core.origin.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.RequestHead;
import org.junit.jupiter.api.Test;

class ProxyLoopTest {

  @Test
  void someProxiesOfOursInARowAreNoLoop() {
    assertThat(ProxyLoop.isSeen(through(0))).isFalse();
    assertThat(ProxyLoop.isSeen(through(7))).isFalse();
    assertThat(ProxyLoop.isSeen(through(8))).isTrue();
  }

  @Test
  void othersDoNotCount() {
    RequestHead request = through(7);
    request.fields().add("Via", "1.1 varnish, 2.0 fly.io, 1.1 mykamille".repeat(9));
    assertThat(ProxyLoop.isSeen(request)).isFalse();
    request.fields().add("via", "1.1 varnish, 2.0 kamille");
    assertThat(ProxyLoop.isSeen(request)).isTrue();
  }

  private static RequestHead through(int times) {
    RequestHead request = RequestHead.of("GET", "http://example.org/");
    for (int i = 0; i < times; i++) {
      request.fields().add("Via", "1.1 kamille");
    }
    return request;
  }
}
