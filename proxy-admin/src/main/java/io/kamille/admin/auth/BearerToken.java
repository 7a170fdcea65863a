package io.kamille.admin.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The secret that opens the API (RFC 6750). Never printed. Immutable; any thread. */
public final class BearerToken {

  private static final Pattern SYNTAX = Pattern.compile("[A-Za-z0-9._~+/-]{32,256}=*");
  private static final String SCHEME = "Bearer ";
  private static final int RANDOM_BYTES = 32;

  private final byte[] secret;

  private BearerToken(String secret) {
    this.secret = secret.getBytes(StandardCharsets.US_ASCII);
  }

  /** A new one with 256 random bits. */
  static BearerToken random() {
    byte[] octets = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(octets);
    return new BearerToken(Base64.getUrlEncoder().withoutPadding().encodeToString(octets));
  }

  /**
   * Reads a token.
   *
   * @throws IllegalArgumentException if it has not the syntax of RFC 6750 §2.1 or fewer than 32
   *     characters; the message does not quote it
   */
  public static BearerToken parse(String text) {
    if (!SYNTAX.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "not a bearer token (expected: 32 to 256 letters, digits or ._~+/-)");
    }
    return new BearerToken(text);
  }

  /** Whether an {@code Authorization} value brings this token, in a time that tells nothing. */
  public boolean isIn(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    String given = authorization.substring(SCHEME.length()).strip();
    return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), secret);
  }

  /** As it stands in the file. */
  String secret() {
    return new String(secret, StandardCharsets.US_ASCII);
  }

  @Override
  public String toString() {
    return "BearerToken";
  }
}
