package io.kamille.admin.auth;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** The file that keeps the bearer token, readable for its owner only. Any thread. */
public final class TokenFile {

  /*
   * A new token is written to a file of another name, which nobody else can read from its first
   * moment, and then linked to its own name: whoever finds the file finds the whole token, and of
   * two processes that start together both use the token of the first.
   */
  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final Set<PosixFilePermission> OWNER_ONLY =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(OWNER_ONLY);
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final int LENGTH_LIMIT = 1024;

  private TokenFile() {}

  /**
   * Reads the token, after creating file and directory if there is none.
   *
   * @throws IOException if the file cannot be read, created or made private, or holds no token; the
   *     message names the file
   */
  public static BearerToken open(Path file) throws IOException {
    if (Files.notExists(file)) {
      create(file.toAbsolutePath());
    }
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + ": not a regular file");
    }
    tighten(file);
    return read(file);
  }

  private static void create(Path file) throws IOException {
    Path directory = file.getParent();
    if (directory == null) {
      throw new IOException(file + ": not a file name");
    }
    Files.createDirectories(directory, PRIVATE_DIRECTORY);
    Path draft = Files.createTempFile(directory, "." + file.getFileName(), null, PRIVATE_FILE);
    try {
      write(draft, BearerToken.random());
      Files.createLink(file, draft);
      LOGGER.log(System.Logger.Level.INFO, "created " + file + " with a new bearer token");
    } catch (FileAlreadyExistsException another) {
      LOGGER.log(System.Logger.Level.INFO, file + " was created by another process");
    } finally {
      Files.delete(draft);
    }
  }

  private static void write(Path file, BearerToken token) throws IOException {
    ByteBuffer line = StandardCharsets.US_ASCII.encode(token.secret() + "\n");
    try (SeekableByteChannel channel =
        Files.newByteChannel(file, StandardOpenOption.WRITE, StandardOpenOption.SYNC)) {
      while (line.hasRemaining()) {
        channel.write(line);
      }
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

  private static BearerToken read(Path file) throws IOException {
    byte[] octets;
    try (var in = Files.newInputStream(file)) {
      octets = in.readNBytes(LENGTH_LIMIT);
    }
    try {
      return BearerToken.parse(new String(octets, StandardCharsets.ISO_8859_1).stripTrailing());
    } catch (IllegalArgumentException invalid) {
      throw new IOException(file + ": " + invalid.getMessage(), invalid);
    }
  }
}
