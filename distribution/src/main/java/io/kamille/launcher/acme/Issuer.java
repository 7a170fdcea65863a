package io.kamille.launcher.acme;

import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Who issues certificates. One call at a time; each blocks. */
interface Issuer {

  /** What was issued, the name's own certificate first, not looked at yet. */
  record Issued(List<X509Certificate> chain, KeyPair keys) {}

  /**
   * When to renew (RFC 9773).
   *
   * @param retryAfter when to ask again; null if it does not say
   */
  record Window(Instant start, Instant end, @Nullable Instant retryAfter) {}

  /**
   * One order.
   *
   * @param challenge how the name is proved
   * @param replaced the certificate before it; null if there is none
   * @param said told of each step
   */
  record Order(
      String name, Way challenge, @Nullable X509Certificate replaced, Consumer<String> said) {}

  /** Why it issues none. */
  final class Refusal extends Exception {

    /** The type of what this machine is to blame for. */
    static final String LOCAL = "local";

    /** The type of what the authority should not have said. */
    static final String MISUNDERSTOOD = "misunderstood";

    /** The type of an authority that cannot be asked. */
    static final String UNREACHABLE = "unreachable";

    private static final long serialVersionUID = 1L;
    private static final int MOST_CHARACTERS = 500;

    final String type;
    final String detail;
    final boolean isFinal;
    final @Nullable Instant retryAfter;

    /** One that may pass. */
    Refusal(String type, String detail) {
      this(type, detail, false, null);
    }

    /**
     * A refusal.
     *
     * @param type of the problem (RFC 8555 §6.7), without what all begin with; or one of ours
     * @param detail in the authority's own words
     * @param isFinal whether an operator has to do something
     */
    Refusal(String type, String detail, boolean isFinal, @Nullable Instant retryAfter) {
      super(cut(detail));
      this.type = cut(type);
      this.detail = cut(detail);
      this.isFinal = isFinal;
      this.retryAfter = retryAfter;
    }

    /** It goes into files and the log of a cluster. */
    private static String cut(String text) {
      return text.length() > MOST_CHARACTERS ? text.substring(0, MOST_CHARACTERS - 1) + "…" : text;
    }
  }

  /** Orders a certificate, proves the name, and waits until it is issued. */
  Issued order(Order order) throws Refusal, InterruptedException;

  /** When to renew this certificate; null if the authority does not say. */
  @Nullable Window window(X509Certificate certificate) throws Refusal;
}
