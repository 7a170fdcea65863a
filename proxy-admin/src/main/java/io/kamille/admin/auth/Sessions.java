package io.kamille.admin.auth;

import io.kamille.core.loop.WallClock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Browsers that are signed in. In memory only. Any thread. */
public final class Sessions {

  /*
   * Cookies ignore ports (RFC 6265 §8.5): any program on this host that a browser visits gets ours.
   * So a session has two halves, a cookie and a key that a page of our own origin keeps and sends
   * in a field of its own. Each request needs both.
   */
  private static final int OCTETS = 16;
  private static final long LIFETIME_SECONDS = 12 * 3600L;
  private static final long PROOF_SECONDS = 15 * 60L;
  private static final long CODE_SECONDS = 60;
  private static final int LIMIT_OF_OWNER = 10;

  private final WallClock clock;
  private final Map<String, Session> sessions = new LinkedHashMap<>();
  private final Map<String, Code> codes = new LinkedHashMap<>();

  /** A browser's two halves, as they are given away once. */
  public record Opened(String cookie, String key, long expiresEpochSeconds) {}

  private record Session(Identity owner, String keyDigest, long provenEpochSeconds, long expires) {}

  private record Code(Identity owner, long expires) {}

  /** None yet. */
  public Sessions(WallClock clock) {
    this.clock = clock;
  }

  /** A code for one sign-in within a minute, as {@code owner}. */
  public synchronized String code(Identity owner) {
    String code = Secret.random(OCTETS);
    long now = clock.epochSeconds();
    codes.values().removeIf(old -> old.expires <= now);
    makeRoom(codes, owner, Code::owner);
    codes.put(Secret.digest(code), new Code(owner, now + CODE_SECONDS));
    return code;
  }

  /** Whose code this is; it is used up by the question. */
  public synchronized @Nullable Identity redeem(String code) {
    Code found = codes.remove(Secret.digest(code));
    return found == null || found.expires <= clock.epochSeconds() ? null : found.owner;
  }

  /** Signs a browser in, as somebody who has proven to be {@code owner} now. */
  public synchronized Opened open(Identity owner) {
    long now = clock.epochSeconds();
    sessions.values().removeIf(old -> old.expires <= now);
    makeRoom(sessions, owner, Session::owner);
    Opened opened =
        new Opened(Secret.random(OCTETS), Secret.random(OCTETS), now + LIFETIME_SECONDS);
    sessions.put(
        Secret.digest(opened.cookie),
        new Session(owner, Secret.digest(opened.key), now, opened.expiresEpochSeconds));
    return opened;
  }

  /**
   * Who is signed in with these two halves, and whether the proof is recent enough for a change.
   */
  synchronized @Nullable Identity find(String cookie, String key, String address) {
    Session session = sessions.get(Secret.digest(cookie));
    long now = clock.epochSeconds();
    if (session == null || session.expires <= now || !Secret.matches(key, session.keyDigest)) {
      return null;
    }
    Identity owner = session.owner;
    boolean isRecent = now - session.provenEpochSeconds < PROOF_SECONDS;
    return new Identity(
        owner.id(), owner.name(), owner.scope(), Identity.Via.SESSION, address, isRecent);
  }

  /** Signs a browser out. */
  public synchronized void close(String cookie) {
    sessions.remove(Secret.digest(cookie));
  }

  /** Signs out all browsers of a token. */
  public synchronized void closeAllOf(String id) {
    sessions.values().removeIf(session -> session.owner.id().equals(id));
    codes.values().removeIf(code -> code.owner.id().equals(id));
  }

  /** Who has many loses the oldest of their own, and nobody else's. */
  private static <T> void makeRoom(
      Map<String, T> oldestFirst, Identity owner, Function<T, Identity> ownerOf) {
    List<String> own =
        oldestFirst.entrySet().stream()
            .filter(each -> ownerOf.apply(each.getValue()).id().equals(owner.id()))
            .map(Map.Entry::getKey)
            .toList();
    if (own.size() >= LIMIT_OF_OWNER) {
      oldestFirst.remove(own.getFirst());
    }
  }
}
