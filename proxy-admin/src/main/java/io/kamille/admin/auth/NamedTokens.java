package io.kamille.admin.auth;

import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.WatchedFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The named tokens, in a file that holds digests and no secret, and in the log of the cluster if
 * there is one. Any thread.
 *
 * <p>A token is {@code kam_ID_SECRET}, with 256 random bits.
 */
public final class NamedTokens {

  /*
   * While one process takes over from another, both serve the API. So the file is read again when
   * it has changed, and changed under a lock: what is made at one process is known to the other,
   * and what is revoked stays so. Who only looks a token up waits for nobody who writes: the disk
   * may hang.
   *
   * In a cluster, new tokens are made in the log, so that they work at all nodes. Those of the file
   * are of this node, as before. When one of the log was last used is known here alone, and since
   * the start.
   */
  private static final System.Logger LOG = System.getLogger("kamille.admin");
  private static final String PREFIX = "kam_";
  private static final String SHARED = "token/";
  private static final int ID_OCTETS = 6;
  private static final int SECRET_OCTETS = 32;
  private static final int LIMIT = 200;
  private static final int EXPIRED_AT_ONCE = 2;
  private static final int NAME_LIMIT = 64;
  private static final int FILE_LIMIT_BYTES = 1 << 20;
  private static final Duration LONGEST = Duration.ofDays(366);

  /** Uses closer to each other than this are written down as one. */
  private static final long USE_SECONDS = 600;

  private final Path file;
  private final WallClock clock;
  private final Supplier<@Nullable SharedValues> cluster;
  private final WatchedFiles watched;
  private final ReentrantLock changing = new ReentrantLock();
  private final Map<String, Long> used = new ConcurrentHashMap<>();
  // Volatile: replaced as a whole under the lock, read by all.
  private volatile Map<String, Token> tokens = Map.of();

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
      long usedEpochSeconds) {

    /** It may come from a file or from another node. */
    public Token {
      Objects.requireNonNull(id);
      Objects.requireNonNull(scope);
      Objects.requireNonNull(digest);
    }

    Token usedAt(long epochSeconds) {
      return new Token(
          id, name, scope, digest, createdEpochSeconds, expiresEpochSeconds, epochSeconds);
    }
  }

  /**
   * A new token.
   *
   * @param secret all of it, which is kept nowhere
   */
  public record Created(Token token, String secret) {}

  /**
   * Reads the file, if there is one.
   *
   * @param cluster what all nodes have; null while this node is in no cluster
   * @throws IOException if it cannot be read or holds something else; the message names the file
   */
  public NamedTokens(Path file, WallClock clock, Supplier<@Nullable SharedValues> cluster)
      throws IOException {
    this.file = file;
    this.watched = new WatchedFiles(List.of(file));
    this.clock = clock;
    this.cluster = cluster;
    follow();
  }

  /** Takes over what another process has written since. */
  private void follow() throws IOException {
    List<Token> now = watched.poll(this::read);
    if (now != null) {
      Map<String, Token> read = new LinkedHashMap<>();
      now.forEach(token -> read.put(token.id(), token));
      tokens = Collections.unmodifiableMap(read);
    }
  }

  /** Puts a token in the place of the one of that identifier, or ends that. Under the lock. */
  private @Nullable Token replace(String id, @Nullable Token next) {
    Map<String, Token> changed = new LinkedHashMap<>(tokens);
    Token before = next == null ? changed.remove(id) : changed.put(id, next);
    tokens = Collections.unmodifiableMap(changed);
    return before;
  }

  private List<Token> read() throws IOException {
    try {
      byte[] content = SmallFile.read(file, FILE_LIMIT_BYTES);
      return List.of(Json.MAPPER.readValue(content, Token[].class));
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (JacksonException broken) {
      throw new IOException(file + ": not a list of tokens", broken);
    }
  }

  /** If the file cannot be read, or somebody changes it now, what was read last holds. */
  private void followIfPossible() {
    if (!changing.tryLock()) {
      return;
    }
    try {
      follow();
    } catch (IOException unreadable) {
      LOG.log(System.Logger.Level.WARNING, "cannot read the tokens again", unreadable);
    } finally {
      changing.unlock();
    }
  }

  /**
   * Makes a token that nobody knows yet.
   *
   * @throws IllegalArgumentException with what is expected, if name or lifetime cannot be, or there
   *     are too many
   */
  public Created make(String name, Scope scope, Duration lifetime) {
    if (name.isBlank() || name.length() > NAME_LIMIT || !isText(name)) {
      throw new IllegalArgumentException("name must have 1 to " + NAME_LIMIT + " characters.");
    }
    if (lifetime.isNegative() || lifetime.isZero() || lifetime.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("expires must be at most a year from now.");
    }
    String id = Secret.random(ID_OCTETS).replaceAll("[_-]", "x");
    String secret = PREFIX + id + "_" + Secret.random(SECRET_OCTETS);
    long now = clock.epochSeconds();
    if (list().stream().filter(token -> now < token.expiresEpochSeconds()).count() >= LIMIT) {
      throw new IllegalArgumentException("There are " + LIMIT + " tokens; revoke one first.");
    }
    Token token =
        new Token(id, name, scope, Secret.digest(secret), now, now + lifetime.toSeconds(), 0);
    return new Created(token, secret);
  }

  /** Without control characters and halves of characters, which no file can hold. */
  private static boolean isText(String name) {
    return name.codePoints().noneMatch(c -> c < ' ' || Character.getType(c) == Character.SURROGATE);
  }

  /**
   * Has a token valid at this node.
   *
   * @throws IOException if it cannot be written down; then there is no such token
   */
  public void add(Token token) throws IOException {
    changing.lock();
    try (FileChannel _ = DurableFile.lock(file)) {
      follow();
      dropExpired();
      replace(token.id(), token);
      write();
    } catch (IOException failed) {
      replace(token.id(), null);
      throw failed;
    } finally {
      changing.unlock();
    }
  }

  /** Nobody revokes what ends by itself, and the list has a limit. */
  private void dropExpired() {
    long now = clock.epochSeconds();
    tokens.values().stream()
        .filter(token -> now >= token.expiresEpochSeconds())
        .forEach(token -> replace(token.id(), null));
  }

  /**
   * Has a token valid at all nodes, or at none from now on; waits for them. Any thread.
   *
   * @return all nodes, and whether each knows it by now
   * @throws IOException if it is not known to be in the log
   */
  public static Map<String, Boolean> share(SharedValues nodes, String id, @Nullable Token token)
      throws IOException {
    return nodes.put(SHARED + id, token == null ? null : Json.MAPPER.writeValueAsBytes(token));
  }

  /** Some tokens of all nodes that have expired: whoever makes one ends them. Any thread. */
  public List<String> expired(SharedValues nodes) {
    long now = clock.epochSeconds();
    return nodes.under(SHARED).values().stream()
        .map(this::shared)
        .filter(token -> token != null && now >= token.expiresEpochSeconds())
        .map(Token::id)
        .limit(EXPIRED_AT_ONCE)
        .toList();
  }

  /** What all nodes have; null if this node is in no cluster. */
  public @Nullable SharedValues cluster() {
    return cluster.get();
  }

  /** All tokens, those of this node and then those of all, each the oldest first. */
  public List<Token> list() {
    followIfPossible();
    List<Token> all = new ArrayList<>(tokens.values());
    SharedValues nodes = cluster.get();
    if (nodes != null) {
      nodes.under(SHARED).values().stream()
          .map(this::shared)
          .filter(Objects::nonNull)
          .sorted(Comparator.comparingLong(Token::createdEpochSeconds))
          .forEach(all::add);
    }
    return all;
  }

  /** Whether all nodes know that token. */
  public boolean isShared(String id) {
    return of(id) != null && !tokens.containsKey(id);
  }

  /** The token of that identifier, whether it has expired or not; null if there is none. */
  private @Nullable Token of(String id) {
    followIfPossible();
    Token own = tokens.get(id);
    SharedValues nodes = cluster.get();
    byte[] content = own != null || nodes == null ? null : nodes.get(SHARED + id);
    return content == null ? own : shared(content);
  }

  private @Nullable Token shared(byte[] content) {
    try {
      Token token = Json.MAPPER.readValue(content, Token.class);
      return token.usedAt(used.getOrDefault(token.id(), 0L));
    } catch (JacksonException strange) {
      LOG.log(System.Logger.Level.WARNING, "the log of the cluster has no token there", strange);
      return null;
    }
  }

  /**
   * Ends a token of this node at once.
   *
   * @return whether there was one
   * @throws IOException if that cannot be written down; the token is then ended for this process
   */
  public boolean revoke(String id) throws IOException {
    changing.lock();
    try (FileChannel _ = DurableFile.lock(file)) {
      follow();
      boolean wasThere = replace(id, null) != null;
      if (wasThere) {
        write();
      }
      return wasThere;
    } catch (IOException failed) {
      replace(id, null);
      throw failed;
    } finally {
      changing.unlock();
    }
  }

  /** The token with this secret, if it has not expired. */
  @Nullable Token find(String secret) {
    int end = secret.indexOf('_', PREFIX.length());
    if (!secret.startsWith(PREFIX) || end < 0) {
      return null;
    }
    Token token = of(secret.substring(PREFIX.length(), end));
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
    Token token = of(id);
    return token != null && clock.epochSeconds() < token.expiresEpochSeconds();
  }

  private void noteUse(Token token, long now) {
    if (!tokens.containsKey(token.id())) {
      used.keySet().retainAll(list().stream().map(Token::id).toList());
      used.put(token.id(), now);
      return;
    }
    if (!changing.tryLock()) {
      return;
    }
    Token next = token.usedAt(now);
    replace(next.id(), next);
    try (FileChannel _ = DurableFile.lock(file)) {
      follow();
      // Unless another process has revoked it meanwhile.
      if (tokens.containsKey(next.id())) {
        replace(next.id(), next);
        write();
      }
    } catch (IOException full) {
      // The use counts for this process; a full disk must keep nobody out.
      LOG.log(System.Logger.Level.WARNING, file + ": cannot note a token's last use", full);
    } finally {
      changing.unlock();
    }
  }

  private void write() throws IOException {
    DurableFile.replace(file, Json.MAPPER.writeValueAsBytes(new ArrayList<>(tokens.values())));
  }

  /** Not before it is used: it has many classes, and few starts need it. */
  private static final class Json {

    static final JsonMapper MAPPER =
        JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
  }
}
