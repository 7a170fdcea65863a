package io.kamille.core.client;

import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.ForwardedReader;
import io.kamille.core.gate.TrustedProxies;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.ClientCertificate;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection that was accepted, and whose it is.
 *
 * @param client at the other end, or in front of the load balancer that is there
 * @param local the address that the client connected to
 * @param tally of the client, which knows of the connection
 * @param certificate that the client has shown; null if none
 * @param reader of whose the requests are; null if they are the client's
 */
public record Accepted(
    Channel channel,
    InetSocketAddress client,
    InetSocketAddress local,
    ClientTable.Tally tally,
    @Nullable ClientCertificate certificate,
    @Nullable ForwardedReader reader) {

  /** As the socket tells it. */
  public static Accepted of(Channel channel, ClientTable.Tally tally) {
    return new Accepted(
        channel,
        (InetSocketAddress) channel.remoteAddress(),
        (InetSocketAddress) channel.localAddress(),
        tally,
        null,
        null);
  }

  /** The same once its client has shown a certificate, or none. */
  public Accepted with(@Nullable ClientCertificate shown) {
    return new Accepted(channel, client, local, tally, shown, reader);
  }

  /** The other end of a socket, for the log. */
  public static String shown(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress known
        ? HostPort.text(known)
        : "a client that is gone";
  }

  /** The other end of the socket, whoever is behind it. */
  InetAddress peer() {
    return ((InetSocketAddress) channel.remoteAddress()).getAddress();
  }

  /** The same socket for a client that a load balancer names. */
  public Accepted with(
      InetSocketAddress proxied, InetSocketAddress reached, ClientTable.Tally counted) {
    return new Accepted(channel, proxied, reached, counted, null, null);
  }

  /** The same where these proxies are believed. */
  public Accepted behind(TrustedProxies proxies) {
    return new Accepted(channel, client, local, tally, certificate, proxies.reader(client));
  }
}
