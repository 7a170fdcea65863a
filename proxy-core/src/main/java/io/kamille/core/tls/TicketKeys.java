package io.kamille.core.tls;

import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys that session tickets are encrypted with (RFC 5077, RFC 8446 §4.6.1): the newest makes
 * tickets, older ones are still taken. Immutable; any thread.
 */
final class TicketKeys {

  /*
   * Whoever learns such a key can read all sessions resumed by its tickets, so none lives long. Two
   * older ones are kept, or a ticket made just before an exchange would be worth nothing.
   */
  private static final int KEPT = 3;

  private final List<OpenSslSessionTicketKey> keys;

  private TicketKeys(List<OpenSslSessionTicketKey> keys) {
    this.keys = keys;
  }

  /** One fresh key. */
  static TicketKeys fresh(SecureRandom random) {
    return new TicketKeys(List.of(key(random)));
  }

  /** A fresh key before those that are young enough. */
  TicketKeys rotated(SecureRandom random) {
    List<OpenSslSessionTicketKey> next = new ArrayList<>();
    next.add(key(random));
    next.addAll(keys.subList(0, Math.min(keys.size(), KEPT - 1)));
    return new TicketKeys(List.copyOf(next));
  }

  private static OpenSslSessionTicketKey key(SecureRandom random) {
    byte[] name = new byte[OpenSslSessionTicketKey.NAME_SIZE];
    byte[] hmac = new byte[OpenSslSessionTicketKey.HMAC_KEY_SIZE];
    byte[] aes = new byte[OpenSslSessionTicketKey.AES_KEY_SIZE];
    random.nextBytes(name);
    random.nextBytes(hmac);
    random.nextBytes(aes);
    return new OpenSslSessionTicketKey(name, hmac, aes);
  }

  /** Has the context go by these keys from now on. */
  void giveTo(OpenSslSessionContext context) {
    context.setTicketKeys(keys.toArray(OpenSslSessionTicketKey[]::new));
  }
}
