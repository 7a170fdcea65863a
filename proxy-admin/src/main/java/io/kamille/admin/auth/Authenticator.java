package io.kamille.admin.auth;

import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells who sent a request. Any thread. */
public final class Authenticator {

  /*
   * An address may present a wrong secret ten times a minute. A right one always passes, so nobody
   * can lock others out. An IPv6 client counts by its /64, which is one network.
   */
  private static final int FAILURES_PER_MINUTE = 10;
  private static final int ADDRESSES = 10_000;
  private static final int IPV6_NETWORK_OCTETS = 8;

  private static final String SCHEME = "Bearer ";

  private final TokenFile fileToken;
  private final NamedTokens tokens;
  private final Sessions sessions;
  private final WallClock clock;
  private final Map<String, Integer> failures = new LinkedHashMap<>();
  private long minute;

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
   * @param cluster what all nodes have; null while this node is in no cluster
   * @throws IOException if a file cannot be used; the message names it
   */
  public Authenticator(
      TokenFile fileToken,
      Path directory,
      WallClock clock,
      Supplier<@Nullable SharedValues> cluster)
      throws IOException {
    this.fileToken = fileToken;
    this.tokens = new NamedTokens(directory.resolve("tokens.json"), clock, cluster);
    this.sessions = new Sessions(clock);
    this.clock = clock;
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
    if (!authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return null;
    }
    String secret = authorization.substring(SCHEME.length()).strip();
    if (fileToken.is(secret)) {
      return Identity.ofFile(address);
    }
    NamedTokens.Token token = tokens.find(secret);
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
    return peer instanceof Peer.Network(var client) && isTooOften(client);
  }

  private synchronized boolean isTooOften(InetAddress address) {
    long now = clock.epochSeconds() / 60;
    if (now != minute) {
      failures.clear();
      minute = now;
    }
    String network = network(address);
    if (failures.size() >= ADDRESSES && !failures.containsKey(network)) {
      return true;
    }
    return failures.merge(network, 1, Integer::sum) > FAILURES_PER_MINUTE;
  }

  private static String network(InetAddress address) {
    byte[] octets = address.getAddress();
    return HexFormat.of()
        .formatHex(
            address instanceof Inet6Address ? Arrays.copyOf(octets, IPV6_NETWORK_OCTETS) : octets);
  }
}
