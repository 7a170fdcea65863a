package io.kamille.admin.auth;

import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    if (Files.exists(file)) {
      for (Token token : read(file)) {
        all.tokens.put(token.id(), token);
      }
    }
    return all;
  }

  private static Token[] read(Path file) throws IOException {
    try (var in = Files.newInputStream(file)) {
      return JSON.readValue(in.readNBytes(FILE_LIMIT_BYTES), Token[].class);
    } catch (JacksonException broken) {
      throw new IOException(file + ": not a list of tokens", broken);
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
    if (tokens.size() >= LIMIT) {
      throw new IllegalArgumentException("There are " + LIMIT + " tokens; revoke one first.");
    }
    String id = Secret.random(ID_OCTETS).replaceAll("[_-]", "x");
    String secret = PREFIX + id + "_" + Secret.random(SECRET_OCTETS);
    long now = clock.epochSeconds();
    Token token =
        new Token(id, name, scope, Secret.digest(secret), now, now + lifetime.toSeconds(), 0);
    tokens.put(id, token);
    try {
      write();
    } catch (IOException failed) {
      tokens.remove(id);
      throw failed;
    }
    return new Created(token, secret);
  }

  /** All tokens, the oldest first. */
  public List<Token> list() {
    return List.copyOf(tokens.values());
  }

  /**
   * Ends a token at once.
   *
   * @return whether there was one
   * @throws IOException if that cannot be written down; the token is then ended for this process
   */
  public boolean revoke(String id) throws IOException {
    boolean wasThere = tokens.remove(id) != null;
    if (wasThere) {
      write();
    }
    return wasThere;
  }

  /** The token with this secret, if it has not expired. */
  @Nullable Token find(String secret) {
    int end = secret.indexOf('_', PREFIX.length());
    if (!secret.startsWith(PREFIX) || end < 0) {
      return null;
    }
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
    Token token = tokens.get(id);
    return token != null && clock.epochSeconds() < token.expiresEpochSeconds();
  }

  private void noteUse(Token token, long now) {
    tokens.put(
        token.id(),
        new Token(
            token.id(),
            token.name(),
            token.scope(),
            token.digest(),
            token.createdEpochSeconds(),
            token.expiresEpochSeconds(),
            now));
    try {
      write();
    } catch (IOException full) {
      // The use counts for this process; a full disk must keep nobody out.
      System.getLogger("kamille.admin")
          .log(System.Logger.Level.WARNING, file + ": cannot note a token's last use", full);
    }
  }

  private void write() throws IOException {
    PrivateFile.replace(file, JSON.writeValueAsBytes(new ArrayList<>(tokens.values())));
  }
}
