package io.kamille.core.client.h2;

import io.kamille.core.http.RequestHead;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which authorities may be asked for on one connection: a client that finds several names in one
 * certificate asks for all of them on it (RFC 9113 §9.1.1). Confined to its loop.
 */
final class CertificateScope {

  private final @Nullable ServerTls tls;
  private final @Nullable ServerContext certificates;
  private byte[] lastAuthority = {};

  /** Null for a connection in clear text: there is no limit then. */
  CertificateScope(@Nullable ServerTls tls, @Nullable ServerContext certificates) {
    this.tls = tls;
    this.certificates = certificates;
  }

  /** Whether the request belongs on a connection under another certificate (RFC 9113 §9.1.2). */
  boolean isMisdirected(RequestHead request) {
    if (tls == null || certificates == null) {
      return false;
    }
    byte[] octets = request.octets();
    int start = request.authorityStart();
    int end = request.authorityEnd();
    if (Arrays.equals(lastAuthority, 0, lastAuthority.length, octets, start, end)) {
      return false;
    }
    String authority = new String(octets, start, end - start, StandardCharsets.ISO_8859_1);
    int port = authority.lastIndexOf(':');
    String host = port > authority.lastIndexOf(']') ? authority.substring(0, port) : authority;
    boolean isMisdirected = tls.isMisdirected(certificates, host.toLowerCase(Locale.ROOT));
    if (!isMisdirected) {
      lastAuthority = Arrays.copyOfRange(octets, start, end);
    }
    return isMisdirected;
  }
}
