package io.kamille.core.upstream.h1;

import io.kamille.core.http.Octets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an origin is told about the client and about us.
 *
 * @param xForwarded what happens to {@code X-Forwarded-For}, {@code -Proto} and {@code -Host}
 * @param forwarded what happens to {@code Forwarded} (RFC 7239)
 * @param host the {@code Host} that origins get instead of the client's, or null for the client's
 * @param pseudonym our name in {@code Via} (RFC 9110 §7.6.3)
 * @param removedFields names of request fields that never reach an origin
 */
public record ForwardingSettings(
    Mode xForwarded,
    Mode forwarded,
    @Nullable String host,
    String pseudonym,
    List<String> removedFields) {

  /** What happens to fields that tell of the client. */
  public enum Mode {
    /** They pass as the client sent them, believed or not. */
    PASS,
    /** They go no further. */
    REMOVE,
    /**
     * The client's address is added to the list that came. Scheme and host are no lists: they are
     * what we saw, whatever came.
     */
    APPEND,
    /** They say what we saw and nothing else. */
    REPLACE
  }

  /*
   * Web cache poisoning (James Kettle, "Practical Web Cache Poisoning", 2018): a field that no cache
   * key covers, obeyed by an origin, lets one client choose what all others get from the store. The
   * names below are those that frameworks obey without being told to: other words for scheme, host,
   * port, path and method of the target. All of these are in the key already, as we saw them. Others
   * name the client's address, which X-Forwarded-For tells as we saw it: a client could pretend to be
   * another, to rate limits, access lists and logs too.
   */
  /** Fields that contradict target URI, method or client address, which no cache key covers. */
  public static final List<String> UNKEYED_FIELDS =
      List.of(
          "CF-Connecting-IP",
          "CF-Visitor",
          "Client-IP",
          "CloudFront-Forwarded-Proto",
          "Fastly-Client-IP",
          "Front-End-Https",
          "True-Client-IP",
          "X-Accel-Mapping",
          "X-ARR-SSL",
          "X-Client-IP",
          "X-Cluster-Client-IP",
          "X-Envoy-Original-Path",
          "X-Forwarded",
          "X-Forwarded-Context",
          "X-Forwarded-Host",
          "X-Forwarded-Https",
          "X-Forwarded-Method",
          "X-Forwarded-Path",
          "X-Forwarded-PathBase",
          "X-Forwarded-Port",
          "X-Forwarded-Prefix",
          "X-Forwarded-Protocol",
          "X-Forwarded-Scheme",
          "X-Forwarded-Server",
          "X-Forwarded-Ssl",
          "X-Forwarded-Uri",
          "X-Host",
          "X-HTTP-Host-Override",
          "X-HTTP-Method",
          "X-HTTP-Method-Override",
          "X-Method-Override",
          "X-Original-Host",
          "X-Original-URI",
          "X-Original-URL",
          "X-Originating-IP",
          "X-Real-IP",
          "X-Remote-Addr",
          "X-Remote-IP",
          "X-Rewrite-URI",
          "X-Rewrite-URL",
          "X-Scheme",
          "X-Script-Name",
          "X-Sendfile-Type",
          "X-Url-Scheme");

  /** For a gateway that clients come to directly: nothing they claim of themselves is passed on. */
  public static final ForwardingSettings DEFAULTS =
      new ForwardingSettings(Mode.REPLACE, Mode.REMOVE, null, "kamille", UNKEYED_FIELDS);

  public ForwardingSettings {
    removedFields = List.copyOf(removedFields);
    if (!Octets.isToken(pseudonym)) {
      throw new IllegalArgumentException("pseudonym: " + pseudonym + " (expected: a token)");
    }
  }
}
