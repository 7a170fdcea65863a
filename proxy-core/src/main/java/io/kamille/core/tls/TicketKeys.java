package io.kamille.core.tls;

import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import java.security.SecureRandom;
import java.time.Instant;
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
   *
   * Machines with one secret need not tell each other their keys: there is one for each period. The
   * keys of the period before and of the next one are taken, too. So their clocks may differ, and
   * they need not exchange keys at the same moment, as long as both together stay below a period.
   */
  private static final int KEPT = 3;

  private static final long PERIOD_SECONDS = 12 * 3_600;

  private final List<OpenSslSessionTicketKey> keys;

  private TicketKeys(List<OpenSslSessionTicketKey> keys) {
    this.keys = keys;
  }

  /** One fresh key. */
  static TicketKeys fresh(SecureRandom random) {
    return new TicketKeys(List.of(key(random)));
  }

  /**
   * The keys of this time that all have who know the secret.
   *
   * @param context what tells its tickets from those of others
   */
  static TicketKeys shared(TicketSecret secret, String context, Instant now) {
    long period = now.getEpochSecond() / PERIOD_SECONDS;
    List<OpenSslSessionTicketKey> keys = new ArrayList<>();
    for (long each : new long[] {period, period - 1, period + 1}) {
      String purpose = "session tickets " + context + " " + each;
      keys.add(key(secret.key(purpose, OpenSslSessionTicketKey.TICKET_KEY_SIZE), 0));
    }
    return new TicketKeys(List.copyOf(keys));
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
    for (int at = 0; at < octets.length; at += OpenSslSessionTicketKey.TICKET_KEY_SIZE) {
      keys.add(key(octets, at));
    }
    return new TicketKeys(List.copyOf(keys));
  }

  private static OpenSslSessionTicketKey key(SecureRandom random) {
    byte[] octets = new byte[OpenSslSessionTicketKey.TICKET_KEY_SIZE];
    random.nextBytes(octets);
    return key(octets, 0);
  }

  private static OpenSslSessionTicketKey key(byte[] octets, int from) {
    int at = from;
    byte[] name = Arrays.copyOfRange(octets, at, at += OpenSslSessionTicketKey.NAME_SIZE);
    byte[] hmac = Arrays.copyOfRange(octets, at, at += OpenSslSessionTicketKey.HMAC_KEY_SIZE);
    byte[] aes = Arrays.copyOfRange(octets, at, at + OpenSslSessionTicketKey.AES_KEY_SIZE);
    return new OpenSslSessionTicketKey(name, hmac, aes);
  }

  /** Has the context go by these keys from now on. */
  void giveTo(OpenSslSessionContext context) {
    context.setTicketKeys(keys.toArray(OpenSslSessionTicketKey[]::new));
  }
}
