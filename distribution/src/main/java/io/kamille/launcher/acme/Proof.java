package io.kamille.launcher.acme;

import io.kamille.core.tls.ServerCertificate;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import java.util.StringJoiner;

/**
 * What proves to an authority that a name is ours (RFC 8555 §8). Immutable.
 *
 * @param name a DNS name without a wildcard, or an IP address
 * @param token what HTTP is asked for
 * @param authorization what the authority expects
 */
record Proof(Way challenge, String name, String token, String authorization) {

  /** It may come from a file. */
  Proof {
    Objects.requireNonNull(challenge);
    Objects.requireNonNull(token);
    Objects.requireNonNull(authorization);
    if (ServerCertificate.isAddress(name)) {
      InetAddress.ofLiteral(name);
    }
  }

  static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("SHA-256 comes with every JDK", missing);
    }
  }

  /** The server name in the authority's handshake: of an address, its reverse (RFC 8738 §6). */
  String serverName() {
    if (!ServerCertificate.isAddress(name)) {
      return name;
    }
    byte[] octets = InetAddress.ofLiteral(name).getAddress();
    boolean isIpv4 = octets.length == 4;
    StringJoiner labels = new StringJoiner(".");
    for (int i = octets.length - 1; i >= 0; i--) {
      if (isIpv4) {
        labels.add(Integer.toString(octets[i] & 0xff));
      } else {
        labels
            .add(Integer.toHexString(octets[i] & 15))
            .add(Integer.toHexString(octets[i] >> 4 & 15));
      }
    }
    return labels + (isIpv4 ? ".in-addr.arpa" : ".ip6.arpa");
  }
}
