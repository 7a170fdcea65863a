package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Exchanges as the log sees them when they are over. */
final class Exchanges {

  private Exchanges() {}

  static Exchange of(RequestHead head) {
    return from("192.0.2.1", head);
  }

  static Exchange from(String client, RequestHead head) {
    InetSocketAddress address = new InetSocketAddress(literal(client), 40_000);
    return new Exchange(
        new EmbeddedChannel().eventLoop(),
        address,
        address,
        head,
        RequestContent.NONE,
        new RecordingReply());
  }

  private static InetAddress literal(String address) {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException noLiteral) {
      throw new IllegalArgumentException(address, noLiteral);
    }
  }
}
