package io.kamille.core.tls;

import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.bouncycastle.asn1.x500.X500Name;

/**
 * The authority of one cluster. It signs the certificates of nodes and nothing else, because each
 * certificate of it is let in. Stateless; any thread.
 */
public final class ClusterAuthority {

  private static final Duration LIFETIME = Duration.ofDays(3650);
  private static final Duration NODE_LIFETIME = Duration.ofDays(730);

  private ClusterAuthority() {}

  /** A new one. */
  public static ServerCertificate create(String cluster, Instant now) {
    KeyPair keys = SelfSigned.freshKeys();
    X500Name name = SelfSigned.name("kamille cluster " + cluster);
    X509Certificate certificate =
        SelfSigned.issue(keys, name, keys, name, List.of(), now, now.plus(LIFETIME), true, null);
    return ServerCertificate.of(List.of(certificate), keys.getPrivate(), cluster);
  }

  /**
   * The certificate of a node, as server and as client.
   *
   * @param authority its chain and key
   * @param node a DNS name
   * @param host a DNS name or an IP address
   */
  public static ServerCertificate sign(
      ServerCertificate authority, String node, String host, Instant now) {
    X509Certificate its = authority.chain().getFirst();
    KeyPair keys = SelfSigned.freshKeys();
    X509Certificate certificate =
        SelfSigned.issue(
            keys,
            SelfSigned.name(node),
            new KeyPair(its.getPublicKey(), authority.key()),
            X500Name.getInstance(its.getSubjectX500Principal().getEncoded()),
            Stream.of(node, host).distinct().toList(),
            now,
            now.plus(NODE_LIFETIME),
            false,
            null);
    return ServerCertificate.of(List.of(certificate), keys.getPrivate(), node);
  }
}
