package io.kamille.admin.auth;

import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The token that opens the API and lies in a file which only its owner may read (RFC 6750). Never
 * printed. Immutable; any thread.
 */
public final class TokenFile {

  /*
   * A new token is written to a file of another name, which nobody else can read from its first
   * moment, and then linked to its own name: whoever finds the file finds the whole token, and of
   * two processes that start together both use the token of the first.
   */
  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final Set<PosixFilePermission> OWNER_ONLY =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
  private static final Pattern SYNTAX = Pattern.compile("[A-Za-z0-9._~+/-]{32,256}=*");
  private static final int RANDOM_OCTETS = 32;
  private static final int LENGTH_LIMIT = 1024;

  private final String digest;

  private TokenFile(String secret) {
    digest = Secret.digest(secret);
  }

  /**
   * Reads the token, after creating file and directory if there is none.
   *
   * @throws IOException if the file cannot be read, created or made private, or holds no token; the
   *     message names the file
   */
  public static TokenFile open(Path file) throws IOException {
    if (Files.notExists(file)) {
      create(file.toAbsolutePath());
    }
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + ": not a regular file");
    }
    tighten(file);
    return new TokenFile(read(file));
  }

  /**
   * Reads the token, and changes nothing.
   *
   * @throws IOException as {@link #open}
   */
  public static TokenFile check(Path file) throws IOException {
    return new TokenFile(read(file));
  }

  private static void create(Path file) throws IOException {
    String line = Secret.random(RANDOM_OCTETS) + "\n";
    Path draft = DurableFile.draft(file, line.getBytes(StandardCharsets.US_ASCII));
    try {
      Files.createLink(file, draft);
      LOGGER.log(System.Logger.Level.INFO, "created " + file + " with a new bearer token");
    } catch (FileAlreadyExistsException another) {
      LOGGER.log(System.Logger.Level.INFO, file + " was created by another process");
    } finally {
      Files.delete(draft);
    }
  }

  private static void tighten(Path file) throws IOException {
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
    if (OWNER_ONLY.containsAll(permissions)) {
      return;
    }
    try {
      Files.setPosixFilePermissions(file, OWNER_ONLY);
    } catch (IOException refused) {
      throw new IOException(
          file
              + ": others may use this file ("
              + PosixFilePermissions.toString(permissions)
              + ") and its mode cannot be changed (expected: rw-------)",
          refused);
    }
    LOGGER.log(
        System.Logger.Level.WARNING,
        file
            + ": others could use this file ("
            + PosixFilePermissions.toString(permissions)
            + "); it is rw------- now. If somebody may have read the token, delete the file and"
            + " restart for a new one");
  }

  /** Syntax as in RFC 6750 §2.1, and no fewer than 32 characters. */
  private static String read(Path file) throws IOException {
    String text;
    try {
      text = new String(SmallFile.read(file, LENGTH_LIMIT), StandardCharsets.ISO_8859_1);
    } catch (IOException refused) {
      throw new IOException(file + ": " + Problems.reason(refused), refused);
    }
    if (!SYNTAX.matcher(text.stripTrailing()).matches()) {
      throw new IOException(
          file + ": not a bearer token (expected: 32 to 256 letters, digits or ._~+/-)");
    }
    return text.stripTrailing();
  }

  /** Whether a secret is this token, in a time that tells nothing. */
  boolean is(String secret) {
    return Secret.matches(secret, digest);
  }
}
