package io.kamille.admin.auth;

import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The named tokens, in a file that holds digests and no secret. Confined to the control thread.
 *
 * <p>A token is {@code kam_ID_SECRET}, with 256 random bits.
 */
public final class NamedTokens {

  /*
   * While one process takes over from another, both serve the API. So the file is read again when
   * it has changed, and changed under a lock: what is made at one process is known to the other,
   * and what is revoked stays so.
   */
  private static final System.Logger LOG = System.getLogger("kamille.admin");
  private static final String PREFIX = "kam_";
  private static final int ID_OCTETS = 6;
  private static final int SECRET_OCTETS = 32;
  private static final int LIMIT = 200;
  private static final int NAME_LIMIT = 64;
  private static final int FILE_LIMIT_BYTES = 1 << 20;
  private static final Duration LONGEST = Duration.ofDays(366);

  /** Uses closer to each other than this are written down as one. */
  private static final long USE_SECONDS = 600;

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final Path file;
  private final WallClock clock;
  private final Map<String, Token> tokens = new LinkedHashMap<>();
  private @Nullable List<Object> state;

  /**
   * What is kept of a token.
   *
   * @param digest SHA-256 of its secret
   * @param usedEpochSeconds when it was last used, to ten minutes; 0 for never
   */
  public record Token(
      String id,
      String name,
      Scope scope,
      String digest,
      long createdEpochSeconds,
      long expiresEpochSeconds,
      long usedEpochSeconds) {}

  /**
   * A new token.
   *
   * @param secret all of it, which is kept nowhere
   */
  public record Created(Token token, String secret) {}

  private NamedTokens(Path file, WallClock clock) {
    this.file = file;
    this.clock = clock;
  }

  /**
   * Reads the file, if there is one.
   *
   * @throws IOException if it cannot be read or holds something else; the message names the file
   */
  public static NamedTokens open(Path file, WallClock clock) throws IOException {
    NamedTokens all = new NamedTokens(file, clock);
    all.follow();
    return all;
  }

  /** Takes over what another process has written since. */
  private void follow() throws IOException {
    List<Object> now = state();
    if (Objects.equals(now, state)) {
      return;
    }
    List<Token> read = now == null ? List.of() : read();
    tokens.clear();
    read.forEach(token -> tokens.put(token.id(), token));
    state = now;
  }

  /** What tells this content of the file from any other; null if there is no file. */
  private @Nullable List<Object> state() throws IOException {
    if (Files.notExists(file)) {
      return null;
    }
    BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
    return List.of(String.valueOf(now.fileKey()), now.lastModifiedTime(), now.size());
  }

  private List<Token> read() throws IOException {
    try (var in = Files.newInputStream(file)) {
      return List.of(JSON.readValue(in.readNBytes(FILE_LIMIT_BYTES), Token[].class));
    } catch (JacksonException broken) {
      throw new IOException(file + ": not a list of tokens", broken);
    }
  }

  /** If the file cannot be read, what was read last holds. */
  private void followIfPossible() {
    try {
      follow();
    } catch (IOException unreadable) {
      LOG.log(System.Logger.Level.WARNING, "cannot read the tokens again", unreadable);
    }
  }

  /**
   * Makes a token.
   *
   * @throws IllegalArgumentException with what is expected, if name or lifetime cannot be
   * @throws IOException if it cannot be written down; then there is no such token
   */
  public Created create(String name, Scope scope, Duration lifetime) throws IOException {
    if (name.isBlank() || name.length() > NAME_LIMIT || name.chars().anyMatch(c -> c < ' ')) {
      throw new IllegalArgumentException("name must have 1 to " + NAME_LIMIT + " characters.");
    }
    if (lifetime.isNegative() || lifetime.isZero() || lifetime.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("expires must be at most a year from now.");
    }
    String id = Secret.random(ID_OCTETS).replaceAll("[_-]", "x");
    String secret = PREFIX + id + "_" + Secret.random(SECRET_OCTETS);
    long now = clock.epochSeconds();
    Token token =
        new Token(id, name, scope, Secret.digest(secret), now, now + lifetime.toSeconds(), 0);
    try (FileChannel _ = PrivateFile.lock(file)) {
      follow();
      if (tokens.size() >= LIMIT) {
        throw new IllegalArgumentException("There are " + LIMIT + " tokens; revoke one first.");
      }
      tokens.put(id, token);
      write();
    } catch (IOException failed) {
      tokens.remove(id);
      throw failed;
    }
    return new Created(token, secret);
  }

  /** All tokens, the oldest first. */
  public List<Token> list() {
    followIfPossible();
    return List.copyOf(tokens.values());
  }

  /**
   * Ends a token at once.
   *
   * @return whether there was one
   * @throws IOException if that cannot be written down; the token is then ended for this process
   */
  public boolean revoke(String id) throws IOException {
    try (FileChannel _ = PrivateFile.lock(file)) {
      follow();
      boolean wasThere = tokens.remove(id) != null;
      if (wasThere) {
        write();
      }
      return wasThere;
    } catch (IOException failed) {
      tokens.remove(id);
      throw failed;
    }
  }

  /** The token with this secret, if it has not expired. */
  @Nullable Token find(String secret) {
    int end = secret.indexOf('_', PREFIX.length());
    if (!secret.startsWith(PREFIX) || end < 0) {
      return null;
    }
    followIfPossible();
    Token token = tokens.get(secret.substring(PREFIX.length(), end));
    long now = clock.epochSeconds();
    if (token == null
        || !Secret.matches(secret, token.digest())
        || now >= token.expiresEpochSeconds()) {
      return null;
    }
    if (now - token.usedEpochSeconds() >= USE_SECONDS) {
      noteUse(token, now);
    }
    return token;
  }

  /** Whether a token is still there and has not expired. */
  boolean isValid(String id) {
    followIfPossible();
    Token token = tokens.get(id);
    return token != null && clock.epochSeconds() < token.expiresEpochSeconds();
  }

  private void noteUse(Token token, long now) {
    Token used =
        new Token(
            token.id(),
            token.name(),
            token.scope(),
            token.digest(),
            token.createdEpochSeconds(),
            token.expiresEpochSeconds(),
            now);
    tokens.put(used.id(), used);
    try (FileChannel _ = PrivateFile.lock(file)) {
      follow();
      // Unless another process has revoked it meanwhile.
      if (tokens.replace(used.id(), used) != null) {
        write();
      }
    } catch (IOException full) {
      // The use counts for this process; a full disk must keep nobody out.
      LOG.log(System.Logger.Level.WARNING, file + ": cannot note a token's last use", full);
    }
  }

  private void write() throws IOException {
    PrivateFile.replace(file, JSON.writeValueAsBytes(new ArrayList<>(tokens.values())));
    state = state();
  }
}
