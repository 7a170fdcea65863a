package io.kamille.core.auth;

import io.kamille.core.http.Fields;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.lang.UnresolvableKeyException;
import org.jspecify.annotations.Nullable;

/** What a token says, if it is right (RFC 7519, RFC 8725). Immutable; any thread. */
record JwtCheck(JwtSettings settings) {

  /*
   * Algorithms are a list of ours: none, secrets (HS256) and all others are refused, whatever the
   * token says. The key must be of the kind of the algorithm. Keys come from the settings alone.
   */
  private static final AlgorithmConstraints ALGORITHMS =
      new AlgorithmConstraints(
          ConstraintType.PERMIT,
          AlgorithmIdentifiers.RSA_USING_SHA256,
          AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256,
          AlgorithmIdentifiers.EDDSA);

  private static final List<Map.Entry<Integer, String>> REASONS =
      List.of(
          Map.entry(ErrorCodes.SIGNATURE_INVALID, "the signature is wrong"),
          Map.entry(ErrorCodes.EXPIRED, "the token has expired"),
          Map.entry(ErrorCodes.ISSUER_INVALID, "the issuer is wrong"),
          Map.entry(ErrorCodes.ISSUER_MISSING, "the issuer is wrong"),
          Map.entry(ErrorCodes.AUDIENCE_INVALID, "the audience is wrong"),
          Map.entry(ErrorCodes.AUDIENCE_MISSING, "the audience is wrong"));

  static final String NO_TOKEN = "it is no signed token of at most 8,192 characters";
  private static final Pattern TOKEN =
      Pattern.compile("[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++");
  private static final int SKEW_SECONDS = 30;
  private static final int MOST_TOKEN_CHARACTERS = 8192;
  private static final int MOST_VALUE_CHARACTERS = 1024;

  /**
   * What became of a token.
   *
   * @param refusal why it is refused; empty if it is right
   * @param isKeyUnknown whether no key fits it
   * @param identity fields for the origin
   * @param endEpochSeconds when it ends
   */
  record Result(String refusal, boolean isKeyUnknown, Fields identity, long endEpochSeconds) {

    static Result refused(String why, boolean isKeyUnknown) {
      return new Result(why, isKeyUnknown, AuthStation.NOBODY, 0);
    }
  }

  /** Whether it has the form of a signed token: base64url without padding (RFC 7515 §7.1). */
  static boolean isToken(String text) {
    // The library skips what is no base64, so one token would have many forms.
    return text.length() <= MOST_TOKEN_CHARACTERS && TOKEN.matcher(text).matches();
  }

  Result of(String token, JwtKeys keys, long nowEpochSeconds) {
    if (!isToken(token)) {
      return Result.refused(NO_TOKEN, false);
    }
    JwksVerificationKeyResolver resolver = new JwksVerificationKeyResolver(keys.keys());
    resolver.setDisambiguateWithVerifySignature(true);
    JwtConsumerBuilder builder =
        new JwtConsumerBuilder()
            .setVerificationKeyResolver(resolver)
            .setJwsAlgorithmConstraints(ALGORITHMS)
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
      return new Result("", false, identity(claims), end);
    } catch (InvalidJwtException | MalformedClaimException wrong) {
      return Result.refused(reason(wrong), isKeyUnknown(wrong));
    }
  }

  private static String reason(Exception wrong) {
    if (isKeyUnknown(wrong)) {
      return "no key fits the token";
    }
    return REASONS.stream()
        .filter(reason -> wrong instanceof InvalidJwtException e && e.hasErrorCode(reason.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("the token is not right");
  }

  private static boolean isKeyUnknown(Throwable wrong) {
    for (Throwable cause = wrong; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvableKeyException) {
        return true;
      }
    }
    return false;
  }

  private Fields identity(JwtClaims claims) {
    Fields fields = new Fields();
    settings
        .fields()
        .forEach(
            (name, claim) -> {
              String value = text(claims.getClaimValue(claim.claim()));
              if (value != null) {
                fields.add(name, value);
              }
            });
    return fields;
  }

  /** A claim as the value of a field; null if it is none, or has what would mean something else. */
  private static @Nullable String text(@Nullable Object value) {
    String text =
        switch (value) {
          case String plain -> plain;
          case Number number -> number.toString();
          case Boolean truth -> truth.toString();
          case List<?> list -> joined(list);
          case null -> null;
          default -> null;
        };
    return text != null
            && !text.isEmpty()
            && text.length() <= MOST_VALUE_CHARACTERS
            && text.equals(text.strip())
            && text.chars().allMatch(c -> c >= ' ' && c <= '~')
        ? text
        : null;
  }

  /** Members with commas between them, none of which has one. */
  private static @Nullable String joined(List<?> list) {
    boolean isPlain =
        list.stream().allMatch(item -> item instanceof String text && !text.contains(","));
    return isPlain ? String.join(", ", list.stream().map(String::valueOf).toList()) : null;
  }
}
