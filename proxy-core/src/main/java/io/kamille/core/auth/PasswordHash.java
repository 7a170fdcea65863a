package io.kamille.core.auth;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.jspecify.annotations.Nullable;

/**
 * A password as a file has it. Immutable; any thread.
 *
 * @param text in the file
 */
record PasswordHash(String text, Predicate<byte[]> test) {

  /*
   * The cost has limits: one check may take a second of a processor, and no more. PBKDF2 has the
   * form of passlib, which Authelia and others write: rounds, salt, digest, in base64 with a dot in
   * place of the plus and without padding.
   */
  private static final Pattern BCRYPT =
      Pattern.compile("\\$2[aby]\\$(0[4-9]|1[0-6])\\$[./A-Za-z0-9]{53}");
  private static final Pattern PBKDF2 =
      Pattern.compile(
          "\\$pbkdf2-sha(256|512)\\$([1-9][0-9]{3,6})\\$([./A-Za-z0-9]{11,86})\\$([./A-Za-z0-9]+)");

  /** Whether this is the password, in UTF-8. Takes milliseconds to seconds. */
  boolean matches(byte[] password) {
    return test.test(password);
  }

  /** What a file has; null if it is neither bcrypt nor PBKDF2. */
  static @Nullable PasswordHash parse(String text) {
    if (BCRYPT.matcher(text).matches()) {
      return new PasswordHash(text, password -> OpenBSDBCrypt.checkPassword(text, password));
    }
    Matcher match = PBKDF2.matcher(text);
    if (!match.matches()) {
      return null;
    }
    int rounds = Integer.parseInt(match.group(2));
    int bits = Integer.parseInt(match.group(1));
    byte[] salt;
    byte[] digest;
    try {
      salt = Base64.getDecoder().decode(match.group(3).replace('.', '+'));
      digest = Base64.getDecoder().decode(match.group(4).replace('.', '+'));
    } catch (IllegalArgumentException noBase64) {
      return null;
    }
    return digest.length * Byte.SIZE == bits
        ? new PasswordHash(
            text, password -> MessageDigest.isEqual(digest, pbkdf2(password, salt, rounds, bits)))
        : null;
  }

  private static byte[] pbkdf2(byte[] password, byte[] salt, int rounds, int bits) {
    char[] text = new String(password, StandardCharsets.UTF_8).toCharArray();
    try {
      return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA" + bits)
          .generateSecret(new PBEKeySpec(text, salt, rounds, bits))
          .getEncoded();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
