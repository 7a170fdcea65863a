package io.kamille.core.tls;

import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
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

  /** All of them in hexadecimal digits, the newest first, for the process that comes after us. */
  String words() {
    StringBuilder words = new StringBuilder();
    HexFormat hex = HexFormat.of();
    for (OpenSslSessionTicketKey key : keys) {
      hex.formatHex(words, key.name());
      hex.formatHex(words, key.hmacKey());
      hex.formatHex(words, key.aesKey());
    }
    return words.toString();
  }

  /**
   * What {@link #words} says.
   *
   * @throws IllegalArgumentException if it says something else
   */
  static TicketKeys of(String words) {
    int digits = 2 * OpenSslSessionTicketKey.TICKET_KEY_SIZE;
    int count = words.length() / digits;
    if (count < 1 || count > KEPT || words.length() != count * digits) {
      throw new IllegalArgumentException("keys: " + words.length() + " digits");
    }
    byte[] octets = HexFormat.of().parseHex(words);
    List<OpenSslSessionTicketKey> keys = new ArrayList<>();
    for (int at = 0; at < octets.length; ) {
      byte[] name = Arrays.copyOfRange(octets, at, at += OpenSslSessionTicketKey.NAME_SIZE);
      byte[] hmac = Arrays.copyOfRange(octets, at, at += OpenSslSessionTicketKey.HMAC_KEY_SIZE);
      byte[] aes = Arrays.copyOfRange(octets, at, at += OpenSslSessionTicketKey.AES_KEY_SIZE);
      keys.add(new OpenSslSessionTicketKey(name, hmac, aes));
    }
    return new TicketKeys(List.copyOf(keys));
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
