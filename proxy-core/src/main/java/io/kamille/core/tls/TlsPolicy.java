package io.kamille.core.tls;

import java.util.List;

/**
 * What a listener demands of every handshake, whatever the server name. Immutable; any thread.
 *
 * @param protocols what may be spoken inside, the preferred first, in the words of ALPN (RFC 7301)
 */
public record TlsPolicy(TlsProfile profile, ClientCertificates clients, List<String> protocols) {}
