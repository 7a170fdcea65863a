package io.kamille.core.origin.choose;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestCookie;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.StickySettings;
import io.kamille.core.setting.Problems;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.IntSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** The cookie that brings a client back to the origin that it had. Any thread. */
public final class StickyCookie {

  /*
   * The value of an origin is a signature of its URL (HMAC-SHA-256, cut to 16 octets): it says
   * nothing of the origin, is the same after a reload and in other proxies with the same secret,
   * and cannot be made by anybody else. All values are known beforehand, so that a request costs a
   * look for one of them.
   *
   * A 304 and a response to HEAD set no cookie: a cache takes their fields for those of what it has
   * stored (RFC 9111 §4.3.4, §4.3.5), and drops that for a cookie.
   */
  private static final int NONE = OriginChoice.NOWHERE;
  private static final int BYTES = 16;

  private final String name;
  private final byte[] secret;
  private final byte[][] values;

  private StickyCookie(String name, byte[] secret, List<Origin> origins) {
    this.name = name;
    this.secret = secret;
    this.values = origins.stream().map(origin -> value(secret, origin)).toArray(byte[][]::new);
  }

  /**
   * The cookie for these origins; null if the settings ask for none, or there is no secret.
   *
   * @param otherwise its secret if the settings name no file
   */
  public static @Nullable StickyCookie of(
      StickySettings settings, byte @Nullable [] otherwise, List<Origin> origins) {
    if (settings.cookie() == null) {
      return null;
    }
    byte[] secret = settings.secretFile() == null ? otherwise : secret(settings.secretFile());
    return secret == null ? null : new StickyCookie(settings.cookie(), secret, origins);
  }

  private static byte[] secret(Path file) {
    try {
      return StickySettings.read(file);
    } catch (IOException unreadable) {
      String reason = file + ": " + Problems.reason(unreadable);
      throw new UncheckedIOException(reason, unreadable);
    }
  }

  /** Whether the file still has the same secret. Blocks. */
  public boolean isSignedBy(StickySettings settings) {
    Path file = settings.secretFile();
    return file == null || MessageDigest.isEqual(secret, secret(file));
  }

  /** The same cookie for other origins. */
  public StickyCookie with(List<Origin> origins) {
    return new StickyCookie(name, secret, origins);
  }

  private static byte[] value(byte[] secret, Origin origin) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      byte[] signature = mac.doFinal(origin.url().toString().getBytes(StandardCharsets.US_ASCII));
      return Base64.getUrlEncoder().withoutPadding().encode(Arrays.copyOf(signature, BYTES));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** The place of the origin that the client had, or {@link OriginChoice#NOWHERE}. */
  public int place(RequestHead request) {
    String shown = RequestCookie.value(request.fields(), name);
    if (shown == null) {
      return NONE;
    }
    byte[] octets = shown.getBytes(StandardCharsets.ISO_8859_1);
    for (int place = 0; place < values.length; place++) {
      if (MessageDigest.isEqual(values[place], octets)) {
        return place;
      }
    }
    return NONE;
  }

  /**
   * The reply of that exchange, which sets the cookie if the client has not the one of its origin.
   *
   * @param origin the place of the origin that answers
   */
  public Reply reply(Exchange exchange, IntSupplier origin) {
    int shown = place(exchange.request());
    RequestHead request = exchange.request();
    return new PassingReply(exchange.reply()) {
      @Override
      public void head(ResponseHead head, long contentLength) {
        int place = origin.getAsInt();
        if (place != shown) {
          String value = new String(values[place], StandardCharsets.US_ASCII);
          addTo(head, request, name, value);
        }
        super.head(head, contentLength);
      }
    };
  }

  /** Adds the cookie of some origin, unless the client has one already. */
  public static void addTo(ResponseHead head, RequestHead request, String name) {
    if (RequestCookie.value(request.fields(), name) == null) {
      addTo(head, request, name, "?");
    }
  }

  private static void addTo(ResponseHead head, RequestHead request, String name, String value) {
    if (request.method() != Method.HEAD && head.status() != StatusCode.NOT_MODIFIED) {
      String line = name + "=" + value + "; Path=/; HttpOnly; SameSite=Lax";
      head.fields().add(FieldName.SET_COOKIE, request.isSecure() ? line + "; Secure" : line);
    }
  }
}
