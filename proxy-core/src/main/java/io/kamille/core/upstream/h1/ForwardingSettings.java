package io.kamille.core.upstream.h1;

import io.kamille.core.http.Octets;
import org.jspecify.annotations.Nullable;

/**
 * What an origin is told about the client and about us.
 *
 * @param xForwarded what happens to {@code X-Forwarded-For}, {@code -Proto} and {@code -Host}
 * @param forwarded what happens to {@code Forwarded} (RFC 7239)
 * @param host the {@code Host} that origins get instead of the client's, or null for the client's
 * @param pseudonym our name in {@code Via} (RFC 9110 §7.6.3)
 * @param refusesLoops whether a request that carries our pseudonym is refused: for gateways whose
 *     pseudonym is theirs alone
 */
public record ForwardingSettings(
    Mode xForwarded,
    Mode forwarded,
    @Nullable String host,
    String pseudonym,
    boolean refusesLoops) {

  /** What happens to fields that tell of the client. */
  public enum Mode {
    /** They pass as the client sent them, believed or not. */
    PASS,
    /**
     * The client's address is added to the list that came. Scheme and host are no lists: they are
     * what we saw, whatever came.
     */
    APPEND,
    /** They say what we saw and nothing else. */
    REPLACE
  }

  /** The customary: {@code X-Forwarded-For} grows by one, the client's Host stays. */
  public static final ForwardingSettings DEFAULTS =
      new ForwardingSettings(Mode.APPEND, Mode.PASS, null, "kamille", false);

  public ForwardingSettings {
    if (!Octets.isToken(pseudonym)) {
      throw new IllegalArgumentException("pseudonym: " + pseudonym + " (expected: a token)");
    }
  }
}
