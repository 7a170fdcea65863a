package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.auth.JwtSettings.TokenClaim;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.OctetSequenceJsonWebKey;
import org.jose4j.jwk.OkpJwkGenerator;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JwtCheckTest {

  private static final long NOW = 1_000_000;
  private static final PublicJsonWebKey RSA;
  private static final PublicJsonWebKey OTHER;
  private static final PublicJsonWebKey EC;
  private static final PublicJsonWebKey ED;

  static {
    try {
      RSA = named("rsa", RsaJwkGenerator.generateJwk(2048));
      OTHER = EcJwkGenerator.generateJwk(EllipticCurves.P256);
      EC = named("ec", EcJwkGenerator.generateJwk(EllipticCurves.P256));
      ED = named("ed", OkpJwkGenerator.generateJwk("Ed25519"));
    } catch (JoseException e) {
      throw new AssertionError(e);
    }
  }

  private final Map<String, TokenClaim> fields = new LinkedHashMap<>();

  private static PublicJsonWebKey named(String name, PublicJsonWebKey key) {
    key.setKeyId(name);
    return key;
  }

  @Test
  void theThreeKindsOfSignatureAreTaken() throws Exception {
    assertThat(refusal(signed(RSA, "RS256", claims()))).isEmpty();
    assertThat(refusal(signed(EC, "ES256", claims()))).isEmpty();
    assertThat(refusal(signed(ED, "EdDSA", claims()))).isEmpty();
  }

  @Test
  void noOtherAlgorithmIsTaken() throws Exception {
    JsonWebSignature none = token("none", claims());
    none.setAlgorithmConstraints(AlgorithmConstraints.NO_CONSTRAINTS);
    assertThat(refusal(none.getCompactSerialization())).isNotEmpty();
    String header = base64("{\"alg\":\"none\"}");
    assertThat(refusal(header + "." + base64(claims().toJson()) + ".")).isNotEmpty();
    assertThat(refusal(header + "." + base64(claims().toJson()))).isNotEmpty();
    for (String other : List.of("RS512", "PS256")) {
      assertThat(refusal(signed(RSA, other, claims())))
          .isEqualTo("the algorithm is not RS256, ES256 or EdDSA");
    }
    // The public key as a shared secret.
    for (byte[] secret :
        List.of(
            RSA.getPublicKey().getEncoded(),
            RSA.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY).getBytes(StandardCharsets.UTF_8),
            new byte[32])) {
      assertThat(refusal(signed(new HmacKey(secret), "rsa", "HS256", claims()))).isNotEmpty();
    }
  }

  @Test
  void aKeyIsOfTheKindOfTheAlgorithm() throws Exception {
    assertThat(refusal(signed(RSA.getPrivateKey(), "ec", "RS256", claims()))).isNotEmpty();
    assertThat(refusal(signed(EC.getPrivateKey(), "rsa", "ES256", claims()))).isNotEmpty();
    assertThat(refusal(signed(OTHER.getPrivateKey(), "ec", "ES256", claims())))
        .isEqualTo("the signature is wrong");
  }

  @Test
  void aKeyThatTheTokenBringsDoesNotCount() throws Exception {
    JsonWebSignature token = token("ES256", claims());
    token.setKey(OTHER.getPrivateKey());
    token.setJwkHeader((EllipticCurveJsonWebKey) OTHER);
    token.setHeader("jku", "http://evil.test/keys");
    assertThat(refusal(token.getCompactSerialization())).isNotEmpty();
  }

  @Test
  void anUnknownKeyIsTold() throws Exception {
    Found found = found(signed(RSA.getPrivateKey(), "new", "RS256", claims()));
    assertThat(found.refusal()).isSameAs(JwtCheck.UNKNOWN_KEY);
    assertThat(refusal(signed(RSA, "RS256", claims()))).isEmpty();
  }

  @Test
  void theClaimsMustBeRight() throws Exception {
    JwtClaims late = claims();
    late.setExpirationTime(NumericDate.fromSeconds(NOW - 31));
    assertThat(refusal(signed(RSA, "RS256", late))).isEqualTo("the token has expired");
    JwtClaims endless = claims();
    endless.unsetClaim("exp");
    assertThat(refusal(signed(RSA, "RS256", endless))).isEqualTo("the token has no exp");
    JwtClaims early = claims();
    early.setNotBefore(NumericDate.fromSeconds(NOW + 31));
    assertThat(refusal(signed(RSA, "RS256", early))).isEqualTo("the token is not valid yet (nbf)");
    JwtClaims future = claims();
    future.setIssuedAt(NumericDate.fromSeconds(NOW + 61));
    assertThat(refusal(signed(RSA, "RS256", future)))
        .isEqualTo("its exp lies before its iat or nbf");
    early.setNotBefore(NumericDate.fromSeconds(NOW + 61));
    assertThat(refusal(signed(RSA, "RS256", early)))
        .isEqualTo("its exp lies before its iat or nbf");
    JsonWebSignature critical = token("RS256", claims());
    critical.setKey(RSA.getPrivateKey());
    critical.setKeyIdHeaderValue("rsa");
    critical.setCriticalHeaderNames("x");
    critical.setHeader("x", "1");
    assertThat(refusal(critical.getCompactSerialization()))
        .isEqualTo("crit names what is not known here");
    JwtClaims others = claims();
    others.setIssuer("you");
    assertThat(refusal(signed(RSA, "RS256", others))).isEqualTo("the issuer is wrong");
    JwtClaims elsewhere = claims();
    elsewhere.setAudience("elsewhere");
    assertThat(refusal(signed(RSA, "RS256", elsewhere))).isEqualTo("the audience is wrong");
    JwtClaims nowhere = claims();
    nowhere.unsetClaim("aud");
    assertThat(refusal(signed(RSA, "RS256", nowhere))).isEqualTo("the audience is wrong");
    JwtCheck open =
        new JwtCheck(
            Sections.copy(Sections.of(JwtSettings.SECTION, "{keys: k, issuer: me}"))
                .with("fields", fields)
                .record());
    assertThat(refusal(open.check(signed(RSA, "RS256", claims()), keys(), NOW)))
        .isEqualTo("the audience is wrong");
    assertThat(refusal(open.check(signed(RSA, "RS256", nowhere), keys(), NOW))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"269, 299", "270, 300", "271, 300", "1000000000000, 300"})
  void aVerdictIsKeptFiveMinutesAtMost(long expiresIn, long kept) throws Exception {
    JwtClaims claims = claims();
    claims.setExpirationTime(NumericDate.fromSeconds(NOW + expiresIn));
    Found found = found(signed(EC, "ES256", claims));
    assertThat(found.refusal()).isNull();
    assertThat(found.seconds()).isEqualTo(kept);
  }

  @Test
  void garbageIsRefused() throws Exception {
    String right = signed(RSA, "RS256", claims());
    for (String token :
        List.of(
            "",
            ".",
            "..",
            "a.b.c",
            right + "x",
            right.substring(1),
            right + ".x",
            "....",
            "x".repeat(100_000),
            base64("{}") + "..",
            base64("[".repeat(5_000)) + ".a.b")) {
      assertThat(refusal(token)).as(token).isNotEmpty();
    }
  }

  @Test
  void aTokenHasOneForm() throws Exception {
    String right = signed(RSA, "RS256", claims());
    assertThat(JwtCheck.isToken(right)).isTrue();
    for (String token :
        List.of(
            right.replaceFirst("\\.", ".!!"),
            right.replaceFirst("\\.", ". "),
            " " + right,
            right + " ",
            right + "\n",
            right + "==",
            right + "\u00ff",
            right.replace('-', '+').replace('_', '/') + "+")) {
      assertThat(JwtCheck.isToken(token)).as(token).isFalse();
      assertThat(refusal(token)).as(token).isEqualTo(JwtCheck.NO_TOKEN.reason());
    }
  }

  @Test
  void claimsBecomeFieldsUnlessTheyWouldMeanMore() throws Exception {
    for (String claim : List.of("sub", "groups", "n", "evil", "name", "list", "object", "none")) {
      fields.put("X-" + claim, new TokenClaim(claim));
    }
    JwtClaims claims = claims();
    claims.setClaim("groups", List.of("a", "b c"));
    claims.setClaim("n", 7);
    claims.setClaim("evil", "a\r\nX-Admin: 1");
    claims.setClaim("name", "José");
    claims.setClaim("list", List.of("a", "b, admin"));
    claims.setClaim("object", Map.of("a", "b"));
    Found found = found(signed(RSA, "RS256", claims));
    assertThat(found.refusal()).isNull();
    assertThat(found.identity().toString()).isEqualTo("X-sub: anna\nX-groups: a, b c\nX-n: 7\n");
  }

  @Test
  void secretAndWrongKeysAreNotTaken() throws Exception {
    JsonWebKeySet secrets =
        new JsonWebKeySet(new OctetSequenceJsonWebKey(new HmacKey(new byte[32])));
    assertThatThrownBy(() -> parse(secrets.toJson(JsonWebKey.OutputControlLevel.INCLUDE_SYMMETRIC)))
        .hasMessageContaining("no public key");
    for (String text :
        List.of("", "{", "[]", "{\"keys\":{}}", "{\"keys\":[]}", "null", "{\"keys\":[1]}")) {
      assertThatThrownBy(() -> parse(text)).as(text).isInstanceOf(IOException.class);
    }
  }

  @Test
  void moreKeysThanCanBeTriedAreToldAndNotDropped() throws IOException {
    String key = RSA.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    assertThat(parse("{\"keys\":[" + (key + ",").repeat(499) + key + "]}")).hasSize(500);
    assertThatThrownBy(() -> parse("{\"keys\":[" + (key + ",").repeat(1000) + key + "]}"))
        .hasMessage("1001 keys (expected: at most 1000)");
  }

  /** RFC 7517 §5. */
  @Test
  void aSetHasAtMostThirtyTwoLevels() throws Exception {
    // The set, its list and the key are three; brackets in a text are none.
    assertThat(parse(nested(29))).hasSize(1);
    assertThatThrownBy(() -> parse(nested(30)))
        .isInstanceOf(IOException.class)
        .hasMessage("more than 32 levels of nesting");
    assertThatThrownBy(() -> parse(nested(200_000))).isInstanceOf(IOException.class);
  }

  private static String nested(int levels) {
    String key = RSA.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    String text = "\"text\":\"[\\\"" + "[".repeat(40) + "\",";
    String more = "\"more\":" + "[".repeat(levels) + "]".repeat(levels) + ",";
    return "{\"keys\":[{" + text + more + key.substring(1) + "]}";
  }

  @Test
  void entriesThatCannotBeReadLeaveTheOthers() throws IOException {
    String right = RSA.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    String broken = right.replace("{", "{\"x5c\":[\"?\"],");
    assertThat(parse("{\"keys\":[" + right + "," + broken + ",{\"kty\":\"?\"}]}")).hasSize(1);
  }

  private static List<JsonWebKey> parse(String text) throws IOException {
    return JwtCheck.keys(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<JsonWebKey> keys() throws IOException {
    return parse(new JsonWebKeySet(RSA, EC, ED).toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY));
  }

  private String refusal(String token) throws IOException {
    return refusal(found(token));
  }

  private static String refusal(Found found) {
    return found.refusal() == null ? "" : found.refusal().reason();
  }

  private Found found(String token) throws IOException {
    return new JwtCheck(
            Sections.copy(
                    Sections.of(JwtSettings.SECTION, "{keys: k, issuer: me, audience: [a, b]}"))
                .with("fields", fields)
                .record())
        .check(token, keys(), NOW);
  }

  private static JwtClaims claims() {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer("me");
    claims.setSubject("anna");
    claims.setAudience("b");
    claims.setExpirationTime(NumericDate.fromSeconds(NOW + 60));
    return claims;
  }

  private static String signed(PublicJsonWebKey key, String algorithm, JwtClaims claims)
      throws JoseException {
    return signed(key.getPrivateKey(), key.getKeyId(), algorithm, claims);
  }

  private static String signed(Key key, String name, String algorithm, JwtClaims claims)
      throws JoseException {
    JsonWebSignature token = token(algorithm, claims);
    token.setKey(key);
    token.setKeyIdHeaderValue(name);
    return token.getCompactSerialization();
  }

  private static JsonWebSignature token(String algorithm, JwtClaims claims) {
    JsonWebSignature token = new JsonWebSignature();
    token.setPayload(claims.toJson());
    token.setAlgorithmHeaderValue(algorithm);
    return token;
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
