package io.kamille.core.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A field name that Kamille itself looks at. Other names stay octets in their {@link Fields}.
 *
 * <p>Each has a small number, so that "is it there" is one bit test; the 64th and those behind it
 * share a bit, and are looked for. Immutable; any thread.
 */
public enum FieldName {
  ACCEPT("Accept"),
  ACCEPT_ENCODING("Accept-Encoding"),
  ACCEPT_LANGUAGE("Accept-Language"),
  ACCEPT_RANGES("Accept-Ranges"),
  AGE("Age"),
  ALLOW("Allow"),
  AUTHORIZATION("Authorization"),
  CACHE_CONTROL("Cache-Control"),
  CACHE_GROUPS("Cache-Groups"),
  CACHE_STATUS("Cache-Status"),
  CACHE_TAG("Cache-Tag"),
  CDN_CACHE_CONTROL("CDN-Cache-Control"),
  CDN_LOOP("CDN-Loop"),
  CLIENT_CERT("Client-Cert"),
  CLIENT_CERT_CHAIN("Client-Cert-Chain"),
  CLIENT_CERT_SUBJECT("Client-Cert-Subject"),
  CONNECTION("Connection"),
  CONTENT_ENCODING("Content-Encoding"),
  CONTENT_LANGUAGE("Content-Language"),
  CONTENT_LENGTH("Content-Length"),
  CONTENT_LOCATION("Content-Location"),
  CONTENT_RANGE("Content-Range"),
  CONTENT_TYPE("Content-Type"),
  COOKIE("Cookie"),
  DATE("Date"),
  ETAG("ETag"),
  EXPECT("Expect"),
  EXPIRES("Expires"),
  FORWARDED("Forwarded"),
  HOST("Host"),
  HTTP2_SETTINGS("HTTP2-Settings"),
  IF_MATCH("If-Match"),
  IF_MODIFIED_SINCE("If-Modified-Since"),
  IF_NONE_MATCH("If-None-Match"),
  IF_RANGE("If-Range"),
  IF_UNMODIFIED_SINCE("If-Unmodified-Since"),
  KEEP_ALIVE("Keep-Alive"),
  LAST_MODIFIED("Last-Modified"),
  LOCATION("Location"),
  MAX_FORWARDS("Max-Forwards"),
  PRAGMA("Pragma"),
  PROXY_AUTHENTICATE("Proxy-Authenticate"),
  PROXY_AUTHENTICATION_INFO("Proxy-Authentication-Info"),
  PROXY_AUTHORIZATION("Proxy-Authorization"),
  PROXY_CONNECTION("Proxy-Connection"),
  PROXY_STATUS("Proxy-Status"),
  RANGE("Range"),
  REFERER("Referer"),
  RETRY_AFTER("Retry-After"),
  SERVER("Server"),
  SET_COOKIE("Set-Cookie"),
  STRICT_TRANSPORT_SECURITY("Strict-Transport-Security"),
  SURROGATE_KEY("Surrogate-Key"),
  TE("TE"),
  TRAILER("Trailer"),
  TRANSFER_ENCODING("Transfer-Encoding"),
  UPGRADE("Upgrade"),
  USER_AGENT("User-Agent"),
  VARY("Vary"),
  VIA("Via"),
  WWW_AUTHENTICATE("WWW-Authenticate"),
  X_FORWARDED_FOR("X-Forwarded-For"),
  X_FORWARDED_HOST("X-Forwarded-Host"),
  X_FORWARDED_PROTO("X-Forwarded-Proto");

  private static final FieldName[] ALL = values();
  private static final int TABLE_SIZE = 512;
  private static final FieldName[] TABLE = table();

  /** The names from this one on share the last bit of a mask. */
  private static final int FIRST_SHARED = Long.SIZE - 1;

  private final String text;
  private final String lower;

  @SuppressWarnings("ImmutableEnumChecker") // nobody writes to it
  private final byte[] lowerOctets;

  @SuppressWarnings("ImmutableEnumChecker") // nobody writes to it
  private final byte[] usualOctets;

  FieldName(String text) {
    this.text = text;
    this.lower = text.toLowerCase(Locale.ROOT);
    this.lowerOctets = lower.getBytes(StandardCharsets.ISO_8859_1);
    this.usualOctets = text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The name as it is usually written, for example {@code Cache-Control}. */
  public String text() {
    return text;
  }

  long bit() {
    return bit(ordinal());
  }

  /** The bit of the name with that number. */
  static long bit(int number) {
    return 1L << Math.min(number, FIRST_SHARED);
  }

  /** Whether other names may have the same bit. */
  boolean sharesBit() {
    return ordinal() >= FIRST_SHARED;
  }

  static FieldName ofNumber(int number) {
    return ALL[number];
  }

  /**
   * One step of the hash over lower-case octets that {@link #of(byte[], int, int, int)} expects.
   */
  public static int hashStep(int hash, byte lowerOctet) {
    return hash * 31 + lowerOctet;
  }

  /**
   * The known name that the octets in {@code [start, end)} spell in any case, or null.
   *
   * @param hash {@link #hashStep} folded over the lower-case octets, beginning with 0
   */
  public static @Nullable FieldName of(byte[] octets, int start, int end, int hash) {
    for (int slot = slot(hash); TABLE[slot] != null; slot = (slot + 1) & (TABLE_SIZE - 1)) {
      if (TABLE[slot].spells(octets, start, end)) {
        return TABLE[slot];
      }
    }
    return null;
  }

  /** The known name spelled by {@code name} in any case, or null. */
  public static @Nullable FieldName of(String name) {
    byte[] octets = name.getBytes(StandardCharsets.ISO_8859_1);
    int hash = 0;
    for (byte octet : octets) {
      hash = hashStep(hash, Octets.lower(octet));
    }
    return of(octets, 0, octets.length, hash);
  }

  /** HTTP/2 and most origins spell names in one of two ways: two comparisons of whole arrays. */
  private boolean spells(byte[] octets, int start, int end) {
    int length = lowerOctets.length;
    return Arrays.equals(octets, start, end, lowerOctets, 0, length)
        || Arrays.equals(octets, start, end, usualOctets, 0, length)
        || Octets.equalsIgnoreCase(octets, start, end, lower);
  }

  private static int slot(int hash) {
    return (hash ^ (hash >>> 9) ^ (hash >>> 18)) & (TABLE_SIZE - 1);
  }

  private static FieldName[] table() {
    FieldName[] table = new FieldName[TABLE_SIZE];
    for (FieldName name : ALL) {
      int hash = 0;
      for (int i = 0; i < name.lower.length(); i++) {
        hash = hashStep(hash, (byte) name.lower.charAt(i));
      }
      int slot = slot(hash);
      while (table[slot] != null) {
        slot = (slot + 1) & (TABLE_SIZE - 1);
      }
      table[slot] = name;
    }
    return table;
  }
}
