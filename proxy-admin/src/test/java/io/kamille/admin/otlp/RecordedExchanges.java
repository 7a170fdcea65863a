package io.kamille.admin.otlp;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;

/** Exchanges that nobody answers. */
final class RecordedExchanges {

  private RecordedExchanges() {}

  static Exchange of(RequestHead head) {
    InetSocketAddress client = new InetSocketAddress("192.0.2.1", 40_000);
    return new Exchange(
        new EmbeddedChannel().eventLoop(),
        client,
        client,
        head,
        RequestContent.NONE,
        new RecordingReply());
  }
}
