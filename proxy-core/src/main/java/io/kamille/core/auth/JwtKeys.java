package io.kamille.core.auth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.OctetKeyPairJsonWebKey;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.Use;
import org.jose4j.lang.JoseException;

/**
 * Public keys of those who sign tokens. Immutable; any thread.
 *
 * @param number another one for each reading
 */
record JwtKeys(long number, List<JsonWebKey> keys) {

  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final int MOST_KEYS = 100;

  /**
   * The keys of a JWK set that can verify RS256, ES256 or EdDSA. Others are left out, secret ones
   * above all.
   *
   * @throws IOException if it is no such set
   */
  static JwtKeys parse(byte[] content) throws IOException {
    List<JsonWebKey> keys;
    try {
      keys =
          new JsonWebKeySet(new String(content, StandardCharsets.UTF_8))
              .getJsonWebKeys().stream().filter(JwtKeys::isOfUse).limit(MOST_KEYS).toList();
    } catch (JoseException | RuntimeException wrong) {
      throw new IOException("it is no JWK set (RFC 7517)", wrong);
    }
    if (keys.isEmpty()) {
      throw new IOException("it has no public key for RS256, ES256 or EdDSA");
    }
    return new JwtKeys(NUMBERS.incrementAndGet(), keys);
  }

  private static boolean isOfUse(JsonWebKey key) {
    boolean isOfKind =
        key instanceof RsaJsonWebKey
            || (key instanceof EllipticCurveJsonWebKey curve
                && curve.getCurveName().equals("P-256"))
            || (key instanceof OctetKeyPairJsonWebKey pair && pair.getSubtype().equals("Ed25519"));
    return isOfKind && !Use.ENCRYPTION.equals(key.getUse());
  }
}
