package io.kamille.core.http;

import java.net.InetSocketAddress;

/**
 * Whose request a trusted proxy has sent. Immutable; any thread.
 *
 * @param client as the proxy names it, with port 0 if it says none; the proxy itself if it names
 *     nobody
 * @param proxy at the other end of the connection
 */
public record NamedClient(InetSocketAddress client, InetSocketAddress proxy) {}
