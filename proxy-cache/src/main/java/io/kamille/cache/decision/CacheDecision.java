package io.kamille.cache.decision;

import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.serve.Forwarding;
import org.jspecify.annotations.Nullable;

/** What becomes of a request, by RFC 9111 and its route's settings, and why. Immutable. */
public sealed interface CacheDecision {

  /*
   * What the store cannot answer goes one of three ways. Nothing of the response can be stored for
   * others: the request passes. The response may be stored, but nobody is to wait for it: the
   * request goes alone. Else the first of a key leads, and those that come meanwhile follow.
   */

  /** What has settled whether a stored response is the answer. */
  ReuseRule rule();

  /** Why the request goes toward the origin; null if it does not (RFC 9211 §2.2). */
  default @Nullable ForwardReason reason() {
    return null;
  }

  /** What is done, in one word. */
  default Decision decision() {
    return switch (this) {
      case Serve serve -> serve == Serve.WHILE_REVALIDATED ? Decision.SERVE_STALE : Decision.SERVE;
      case Ask ask -> ask.isValidation() ? Decision.VALIDATE : Decision.FORWARD;
      case Pass pass -> Decision.PASS;
      case Refuse refuse -> Decision.REFUSE;
    };
  }

  /** A stored response is the answer. Constants: a hit makes no garbage. */
  enum Serve implements CacheDecision {
    AS_IT_IS(ReuseRule.FRESH),
    STALE(ReuseRule.MAX_STALE),
    /** It is stale: the origin is asked about it behind it (RFC 5861 §3). */
    WHILE_REVALIDATED(ReuseRule.STALE_WHILE_REVALIDATE);

    private final ReuseRule rule;

    Serve(ReuseRule rule) {
      this.rule = rule;
    }

    static Serve of(ReuseRule rule) {
      return rule == ReuseRule.MAX_STALE ? STALE : AS_IT_IS;
    }

    @Override
    public ReuseRule rule() {
      return rule;
    }

    /** Whether the origin is asked behind it. */
    public boolean isAskedBehind() {
      return this == WHILE_REVALIDATED;
    }
  }

  /**
   * The origin is asked, and its answer may be stored.
   *
   * @param isValidation whether it is asked about what is stored (RFC 9111 §4.3)
   */
  record Ask(ReuseRule rule, ForwardReason reason, Way way, boolean isValidation)
      implements CacheDecision {

    /** With whom a request is forwarded. */
    public enum Way {
      /** Alone: a HEAD whose answer tells of the stored response (RFC 9111 §4.3.5). */
      FRESHEN,
      /** Alone, conditions left in: what came for the key could not be shared lately. */
      PERHAPS,
      /** It leads those that come meanwhile, or follows the one that does (§4). */
      COLLAPSE,
      /** Alone: its answer may be stored, but is not to be waited for. */
      ALONE
    }
  }

  /**
   * The origin is asked, and its answer has nothing to do with the store.
   *
   * @param detail for {@code Cache-Status}; empty for none
   */
  record Pass(ReuseRule rule, ForwardReason reason, Cause cause, String detail)
      implements CacheDecision {

    /** Why nothing of the response can be stored for others. */
    public enum Cause {
      /** The rule says so. */
      RULE,
      /** A condition or range that a response fetched for everybody would not answer. */
      FOR_THE_ORIGIN,
      /** The same, and the whole is fetched in the background and stored. */
      PART_OF_THE_WHOLE,
      /** No response to it may be stored. */
      UNSTORABLE
    }

    /** What {@code Cache-Status} tells of it. */
    public Forwarding forwarding() {
      Forwarding told = new Forwarding(reason);
      return detail.isEmpty() ? told : told.detail(detail);
    }
  }

  /** 504 (Gateway Timeout): the client takes only what is stored (RFC 9111 §5.2.1.7). */
  record Refuse(ReuseRule rule) implements CacheDecision {}
}
