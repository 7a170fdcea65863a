package io.kamille.core.auth;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.kamille.core.setting.SmallFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jose4j.json.JsonUtil;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.OctetKeyPairJsonWebKey;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.Use;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.lang.JoseException;
import org.jose4j.lang.UnresolvableKeyException;
import org.jspecify.annotations.Nullable;

/** A signed token (RFC 6750, RFC 7519, RFC 8725). Immutable; any thread. */
record JwtCheck(JwtSettings settings) {

  /*
   * Algorithms are a list of ours: none, secrets (HS256) and all others are refused, whatever the
   * token says. The key must be of the kind of the algorithm. Keys come from the settings alone.
   */
  private static final System.Logger LOG = System.getLogger("kamille.auth");
  private static final List<String> ALGORITHMS =
      List.of(
          AlgorithmIdentifiers.RSA_USING_SHA256,
          AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256,
          AlgorithmIdentifiers.EDDSA);

  private static final AlgorithmConstraints PERMITTED =
      new AlgorithmConstraints(ConstraintType.PERMIT, ALGORITHMS.toArray(String[]::new));

  static final Failure NO_TOKEN = wrong("it is no signed token of at most 8,192 characters");
  static final Failure UNKNOWN_KEY = wrong("no key fits the token");
  private static final Failure OTHER = wrong("the token is not right");
  private static final Failure OTHER_ALGORITHM =
      wrong("the algorithm is not RS256, ES256 or EdDSA");
  private static final Failure CRITICAL = wrong("crit names what is not known here");
  private static final Failure OTHER_ISSUER = wrong("the issuer is wrong");
  private static final Failure OTHER_AUDIENCE = wrong("the audience is wrong");
  private static final Map<Integer, Failure> REASONS =
      Map.of(
          ErrorCodes.SIGNATURE_INVALID, wrong("the signature is wrong"),
          ErrorCodes.EXPIRED, wrong("the token has expired"),
          ErrorCodes.EXPIRATION_MISSING, wrong("the token has no exp"),
          ErrorCodes.NOT_YET_VALID, wrong("the token is not valid yet (nbf)"),
          // All else of this code has a cause.
          ErrorCodes.MISCELLANEOUS, wrong("its exp lies before its iat or nbf"),
          ErrorCodes.ISSUER_INVALID, OTHER_ISSUER,
          ErrorCodes.ISSUER_MISSING, OTHER_ISSUER,
          ErrorCodes.AUDIENCE_INVALID, OTHER_AUDIENCE,
          ErrorCodes.AUDIENCE_MISSING, OTHER_AUDIENCE);

  private static final Pattern TOKEN =
      Pattern.compile("[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++");
  private static final Pattern VALUE = Pattern.compile("[!-~]([ -~]{0,1022}[!-~])?");
  private static final int SKEW_SECONDS = 30;
  private static final int MOST_TOKEN_CHARACTERS = 8192;
  private static final int MOST_KEYS = 1_000;

  /** A key has four. The library writes keys into its messages, by one call for each level. */
  private static final int MOST_LEVELS = 32;

  private static final long MOST_KEPT_SECONDS = 300;

  private static Failure wrong(String reason) {
    return Found.unauthorized(
        reason, "Bearer error=\"invalid_token\", error_description=\"" + reason + "\"");
  }

  /**
   * The keys of a JWK set that can verify RS256, ES256 or EdDSA. Others are left out, secret ones
   * above all.
   *
   * @throws IOException if it is no such set
   */
  static List<JsonWebKey> keys(byte[] content) throws IOException {
    String text = new String(SmallFile.withoutMark(content), StandardCharsets.UTF_8);
    if (levels(text) > MOST_LEVELS) {
      throw new IOException("more than " + MOST_LEVELS + " levels of nesting");
    }
    List<JsonWebKey> keys;
    try {
      List<JsonWebKey> all = new JsonWebKeySet(text).getJsonWebKeys();
      if (JsonUtil.parseJson(text).get("keys") instanceof List<?> told
          && told.size() > all.size()) {
        int left = told.size() - all.size();
        LOG.log(
            Level.WARNING, "a JWK set: entries left out, as they cannot be read: {0}", "" + left);
      }
      keys = all.stream().filter(JwtCheck::isOfUse).toList();
    } catch (JoseException | RuntimeException wrong) {
      throw new IOException("it is no JWK set (RFC 7517)", wrong);
    }
    if (keys.isEmpty()) {
      throw new IOException("it has no public key for RS256, ES256 or EdDSA");
    }
    if (keys.size() > MOST_KEYS) {
      throw new IOException(keys.size() + " keys (expected: at most " + MOST_KEYS + ")");
    }
    return keys;
  }

  /** How deep lists and objects lie in one another. */
  private static int levels(String json) {
    int level = 0;
    int most = 0;
    boolean isQuoted = false;
    for (int i = 0; i < json.length(); i++) {
      switch (json.charAt(i)) {
        case '"' -> isQuoted = !isQuoted;
        case '\\' -> i++;
        case '[', '{' -> level += isQuoted ? 0 : 1;
        case ']', '}' -> level -= isQuoted ? 0 : 1;
        default -> {}
      }
      most = Math.max(most, level);
    }
    return most;
  }

  private static boolean isOfUse(JsonWebKey key) {
    boolean isOfKind =
        switch (key) {
          case RsaJsonWebKey _ -> true;
          case EllipticCurveJsonWebKey curve -> curve.getCurveName().equals("P-256");
          case OctetKeyPairJsonWebKey pair -> pair.getSubtype().equals("Ed25519");
          default -> false;
        };
    return isOfKind && !Use.ENCRYPTION.equals(key.getUse());
  }

  /** The check as a station asks for it. */
  Found check(String given, AuthSource<List<JsonWebKey>> source, long nowEpochSeconds) {
    Found found = check(given, source.value(), nowEpochSeconds);
    if (UNKNOWN_KEY.equals(found.refusal())) {
      source.doubt();
    }
    return found;
  }

  /** Whether it has the form of a signed token: base64url without padding (RFC 7515 §7.1). */
  static boolean isToken(String text) {
    // The library skips what is no base64, so one token would have many forms.
    return text.length() <= MOST_TOKEN_CHARACTERS && TOKEN.matcher(text).matches();
  }

  Found check(String token, List<JsonWebKey> keys, long nowEpochSeconds) {
    if (!isToken(token)) {
      return Found.refused(NO_TOKEN);
    }
    JwksVerificationKeyResolver resolver = new JwksVerificationKeyResolver(keys);
    resolver.setDisambiguateWithVerifySignature(true);
    JwtConsumerBuilder builder =
        new JwtConsumerBuilder()
            .setVerificationKeyResolver(resolver)
            .setJwsAlgorithmConstraints(PERMITTED)
            .setRequireExpirationTime()
            .setAllowedClockSkewInSeconds(SKEW_SECONDS)
            .setEvaluationTime(NumericDate.fromSeconds(nowEpochSeconds))
            .setExpectedIssuer(settings.issuer());
    if (!settings.audience().isEmpty()) {
      builder.setExpectedAudience(settings.audience().toArray(String[]::new));
    }
    try {
      JwtClaims claims = builder.build().processToClaims(token);
      long end = claims.getExpirationTime().getValue() + SKEW_SECONDS;
      return new Found(null, identity(claims), Math.min(end - nowEpochSeconds, MOST_KEPT_SECONDS));
    } catch (InvalidJwtException wrong) {
      return Found.refused(reason(token, wrong));
    } catch (MalformedClaimException wrong) {
      return Found.refused(OTHER);
    }
  }

  private static Failure reason(String token, InvalidJwtException wrong) {
    JsonWebSignature head = new JsonWebSignature();
    try {
      head.setCompactSerialization(token);
      if (!ALGORITHMS.contains(head.getAlgorithmHeaderValue())) {
        return OTHER_ALGORITHM;
      } else if (head.getHeaders().getObjectHeaderValue("crit") != null) {
        return CRITICAL;
      }
    } catch (JoseException | RuntimeException noHead) {
      return OTHER;
    }
    for (Throwable cause = wrong; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvableKeyException) {
        return UNKNOWN_KEY;
      }
    }
    if (wrong.getCause() != null) {
      return OTHER;
    }
    return wrong.getErrorDetails().stream()
        .map(error -> REASONS.getOrDefault(error.getErrorCode(), OTHER))
        .findFirst()
        .orElse(OTHER);
  }

  private Fields identity(JwtClaims claims) {
    Fields fields = new Fields();
    settings
        .fields()
        .forEach(
            (name, claim) -> {
              String value = text(claims.getClaimValue(claim.claim()));
              if (VALUE.matcher(value).matches()) {
                fields.add(name, value);
              }
            });
    return fields;
  }

  /** A claim as the value of a field; empty if it is none, or would mean something else there. */
  private static String text(@Nullable Object value) {
    return switch (value) {
      case String plain -> plain;
      case Number number -> number.toString();
      case Boolean truth -> truth.toString();
      case List<?> list
          when list.stream().allMatch(item -> item instanceof String s && !s.contains(",")) ->
          list.stream().map(String::valueOf).collect(Collectors.joining(", "));
      case null, default -> "";
    };
  }
}
