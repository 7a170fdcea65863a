package io.kamille.admin.auth;

import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Tells who sent a request. Confined to the control thread. */
public final class Authenticator {

  private static final String SCHEME = "Bearer ";

  private final BearerToken fileToken;
  private final NamedTokens tokens;
  private final Sessions sessions;
  private final FailureLimit failures;

  /** What a request shows of who sent it; nulls for what it does not have. */
  public record Credentials(
      Peer peer, @Nullable String authorization, @Nullable String cookie, @Nullable String key) {

    /** Whether it shows anything. */
    public boolean isAny() {
      return authorization != null || (cookie != null && key != null);
    }
  }

  /**
   * Opens what is known of tokens beside the token file.
   *
   * @throws IOException if a file cannot be used; the message names it
   */
  public static Authenticator open(BearerToken fileToken, Path directory, WallClock clock)
      throws IOException {
    return new Authenticator(
        fileToken, NamedTokens.open(directory.resolve("tokens.json"), clock), clock);
  }

  private Authenticator(BearerToken fileToken, NamedTokens tokens, WallClock clock) {
    this.fileToken = fileToken;
    this.tokens = tokens;
    this.sessions = new Sessions(clock);
    this.failures = new FailureLimit(clock);
  }

  /** The named tokens. */
  public NamedTokens tokens() {
    return tokens;
  }

  /** The browsers that are signed in. */
  public Sessions sessions() {
    return sessions;
  }

  /** Who sent a request, or null if it does not prove that. */
  public @Nullable Identity identify(Credentials credentials) {
    if (credentials.peer() instanceof Peer.LocalSocket) {
      return Identity.local();
    }
    String address = credentials.peer().address();
    if (credentials.authorization() != null) {
      return byToken(credentials.authorization(), address);
    }
    return credentials.cookie() != null && credentials.key() != null
        ? bySession(credentials.cookie(), credentials.key(), address)
        : null;
  }

  /** Who has a token, given as the value of an {@code Authorization} field. */
  public @Nullable Identity byToken(String authorization, String address) {
    if (fileToken.isIn(authorization)) {
      return Identity.ofFile(address);
    }
    if (!authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    NamedTokens.Token token = tokens.find(authorization.substring(SCHEME.length()).strip());
    return token == null
        ? null
        : new Identity(token.id(), token.name(), token.scope(), Identity.Via.TOKEN, address, true);
  }

  private @Nullable Identity bySession(String cookie, String key, String address) {
    Identity found = sessions.find(cookie, key, address);
    if (found == null || !found.isOfNamedToken()) {
      return found;
    }
    return tokens.isValid(found.id()) ? found : null;
  }

  /** Counts a wrong secret; whether this address had too many in this minute. */
  public boolean isTooOften(Peer peer) {
    return peer instanceof Peer.Network(var client) && failures.isTooOften(client);
  }
}
