package io.kamille.cache.serve;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Freshness;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request that memory could not answer, as {@code Cache-Status} tells it (RFC 9211
 * §2.1 to §2.8). Confined to its exchange.
 */
public final class Forwarding {

  /*
   * A detail is a token of ours (§2.8), in lower case with dashes, so that it can also be a metric
   * label: it says why a response was not stored, or what happened instead of the usual.
   */
  private final @Nullable ForwardReason reason;
  private int status;
  private boolean isStored;
  private boolean isCollapsed;
  private boolean hasTtl;
  private long ttlSeconds;
  private @Nullable String detail;

  public Forwarding(ForwardReason reason) {
    this.reason = reason;
  }

  private Forwarding() {
    this.reason = null;
  }

  /** What is told of a request that was not forwarded, because a disk had the response. */
  public static Forwarding readFromDisk(long ttlSeconds) {
    return new Forwarding().ttl(ttlSeconds).detail("disk");
  }

  /** What is told of a request that was not forwarded, though it should be. */
  public static Forwarding unforwarded() {
    return new Forwarding();
  }

  public boolean isForwarded() {
    return reason != null;
  }

  public ForwardReason reason() {
    if (reason == null) {
      throw new IllegalStateException("reason: none (expected: a request that was forwarded)");
    }
    return reason;
  }

  /** The status code the origin answered with, where the client gets another. */
  public Forwarding status(int status) {
    this.status = status;
    return this;
  }

  /** Whether the origin has answered, and not by an error that a stored response stands in for. */
  boolean isValidated() {
    return status > 0 && status < StatusCode.INTERNAL_SERVER_ERROR;
  }

  /** The response is being stored; {@link CacheStatus} says what that promises. */
  public Forwarding stored(long ttlSeconds) {
    this.isStored = true;
    return ttl(ttlSeconds);
  }

  /** How long the response stays fresh, negative if it is stale. */
  public Forwarding ttl(long ttlSeconds) {
    this.hasTtl = true;
    this.ttlSeconds = ttlSeconds;
    return this;
  }

  /** Which setting of the route the lifetime comes from, if nothing else is to be told. */
  public Forwarding by(Freshness freshness) {
    String setting = freshness.source().detail();
    if (detail == null && !setting.isEmpty()) {
      detail = setting;
    }
    return this;
  }

  /** The request was answered by one forwarded before it. */
  public Forwarding collapsed() {
    this.isCollapsed = true;
    return this;
  }

  /** A token that says more. */
  public Forwarding detail(String token) {
    this.detail = token;
    return this;
  }

  /** Whether there is nothing to tell but the reason and the detail. */
  boolean isUsual() {
    return reason != null && status == 0 && !isStored && !isCollapsed && !hasTtl;
  }

  @Nullable String detail() {
    return detail;
  }

  /** The parameters of the member, each with its semicolon in front. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    if (reason == null) {
      text.append("; hit");
    } else {
      text.append("; fwd=").append(reason.token());
    }
    if (status != 0) {
      text.append("; fwd-status=").append(status);
    }
    if (isStored) {
      text.append("; stored");
    }
    if (isCollapsed) {
      text.append("; collapsed");
    }
    if (hasTtl) {
      text.append("; ttl=").append(ttlSeconds);
    }
    if (detail != null) {
      text.append("; detail=").append(detail);
    }
    return text.toString();
  }
}
