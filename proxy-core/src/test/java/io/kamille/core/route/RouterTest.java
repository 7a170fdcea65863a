package io.kamille.core.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RouterTest {

  private final List<String> asked = new ArrayList<>();
  private final RecordingReply reply = new RecordingReply();

  @Test
  void theRouteIsNotedAndItsHandlerAsked() {
    Exchange exchange = handle(router("a.org", "/x"), "http://a.org/x");
    assertThat(asked).containsExactly("a.org/x");
    assertThat(exchange.notes().route()).isEqualTo("a.org/x");
  }

  @Test
  void aKnownHostWithoutARouteForThePathIsNotFound() {
    handle(router("a.org", "/x"), "http://a.org/y");
    assertThat(reply.failure().status()).isEqualTo(404);
  }

  @Test
  void anUnknownHostIsMisdirected() {
    handle(router("a.org", "/"), "http://b.org/");
    assertThat(reply.failure().status()).isEqualTo(421);
  }

  @Test
  void thePathIsRoutedInNormalFormAndHandedOnAsItCame() {
    Exchange exchange = handle(router("a.org", "/x"), "http://a.org//y/..//%78//z?q=//");
    assertThat(asked).containsExactly("a.org/x");
    assertThat(exchange.request().pathAndQuery()).isEqualTo("//y/..//%78//z?q=//");
  }

  @Test
  void aSwappedTableAnswersFromTheNextExchangeOn() {
    Router router = router("a.org", "/");
    router.swap(
        RouteTable.of(List.of(new Route("new", "a.org", "/", RouteMatch.NONE, noting("new")))));
    handle(router, "http://a.org/");
    assertThat(asked).containsExactly("new");
  }

  private Router router(String host, String path) {
    String name = host + path;
    return new Router(
        RouteTable.of(List.of(new Route(name, host, path, RouteMatch.NONE, noting(name)))));
  }

  private ExchangeHandler noting(String name) {
    return exchange -> asked.add(name);
  }

  private Exchange handle(Router router, String uri) {
    InetSocketAddress nobody = InetSocketAddress.createUnresolved("client", 1);
    EmbeddedChannel channel = new EmbeddedChannel();
    Exchange exchange =
        new Exchange(
            channel.eventLoop(),
            nobody,
            nobody,
            RequestHead.of("GET", uri),
            RequestContent.NONE,
            reply);
    router.handle(exchange);
    channel.finishAndReleaseAll();
    return exchange;
  }
}
