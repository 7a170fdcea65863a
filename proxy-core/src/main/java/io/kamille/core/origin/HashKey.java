package io.kamille.core.origin;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.RequestCookie;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.ValueType;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What requests are hashed by.
 *
 * @param name of the field or cookie; empty for the others
 */
public record HashKey(Part kind, String name) {

  /** A part of a request. */
  public enum Part {
    ADDRESS,
    URL,
    FIELD,
    COOKIE
  }

  public static final HashKey URL = new HashKey(Part.URL, "");

  public static final ValueType<HashKey> TYPE =
      new ValueType<>(
          "part of a request",
          "",
          "address, url, field:NAME or cookie:NAME",
          HashKey::parse,
          HashKey::toString);

  /** What a hash begins with (FNV-1a). */
  public static final long START = 0xcbf29ce484222325L;

  private static final long PRIME = 0x100000001b3L;
  private static final Pattern TEXT =
      Pattern.compile("address|url|(field|cookie):([A-Za-z0-9!#$%&'*+.^_`|~-]{1,64})");

  static @Nullable HashKey parse(String text) {
    Matcher match = TEXT.matcher(text);
    if (!match.matches()) {
      return null;
    }
    if (match.group(1) == null) {
      return new HashKey(text.equals("url") ? Part.URL : Part.ADDRESS, "");
    }
    return new HashKey(match.group(1).equals("field") ? Part.FIELD : Part.COOKIE, match.group(2));
  }

  @Override
  public String toString() {
    return switch (kind) {
      case ADDRESS -> "address";
      case URL -> "url";
      case FIELD -> "field:" + name;
      case COOKIE -> "cookie:" + name;
    };
  }

  /** The key of a request; that of its client where it has no such field or cookie. */
  public long of(Exchange exchange) {
    RequestHead request = exchange.request();
    InetAddress client = exchange.client().getAddress();
    return switch (kind) {
      case ADDRESS -> address(client);
      case URL -> {
        byte[] octets = request.octets();
        long host = hash(START, octets, request.authorityStart(), request.authorityEnd());
        yield hash(host, octets, request.pathStart(), request.queryEnd());
      }
      case FIELD -> {
        List<String> values = request.fields().all(name);
        yield values.isEmpty() ? address(client) : hash(String.join(",", values));
      }
      case COOKIE -> {
        String value = RequestCookie.value(request.fields(), name);
        yield value == null ? address(client) : hash(value);
      }
    };
  }

  /** The hash of a client. */
  public static long address(InetAddress client) {
    byte[] address = client.getAddress();
    return hash(START, address, 0, address.length);
  }

  private static long hash(String text) {
    byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
    return hash(START, octets, 0, octets.length);
  }

  public static long hash(long start, byte[] octets, int from, int to) {
    long hash = start;
    for (int i = from; i < to; i++) {
      hash = (hash ^ (octets[i] & 0xff)) * PRIME;
    }
    return hash;
  }

  /** How far a key, mixed with what it is compared with, is from it: the least has it. */
  public static double distance(long hash, double weight) {
    double u = ((mix(hash) >>> 11) + 1) * 0x1.0p-53;
    return -Math.log(u) / weight;
  }

  /** All bits of it in each bit (the finaliser of SplittableRandom). */
  public static long mix(long hash) {
    long mixed = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
