package io.kamille.core.http;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Whose request a trusted proxy has sent. Immutable; any thread.
 *
 * @param client as the proxy names it, with port 0 if it says none; the proxy itself if it names
 *     nobody
 * @param proxy at the other end of the connection
 */
public record NamedClient(InetSocketAddress client, InetSocketAddress proxy) {

  /** The client of a request that came by a connection with this other end. */
  public static InetSocketAddress of(RequestHead request, InetSocketAddress peer) {
    @Nullable NamedClient named = request.named();
    return named == null ? peer : named.client();
  }
}
