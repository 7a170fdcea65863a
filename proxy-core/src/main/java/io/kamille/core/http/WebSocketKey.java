package io.kamille.core.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/** The key of a WebSocket handshake in HTTP/1.1, and its answer (RFC 6455 §4.2.2). Stateless. */
public final class WebSocketKey {

  /** The field of a request that has the key. */
  public static final String FIELD = "Sec-WebSocket-Key";

  /** The field of a response that proves that its sender has read the key. */
  public static final String ANSWER_FIELD = "Sec-WebSocket-Accept";

  private static final int KEY_BYTES = 16;
  private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

  private WebSocketKey() {}

  /** A new one in base64. It keeps caches from answering and protects no secret (§10.3). */
  public static byte[] next() {
    byte[] key = new byte[KEY_BYTES];
    ThreadLocalRandom.current().nextBytes(key);
    return Base64.getEncoder().encode(key);
  }

  /** What a server answers that has read {@code key}. */
  public static String answer(String key) {
    byte[] octets = (key + SUFFIX).getBytes(StandardCharsets.ISO_8859_1);
    try {
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-1").digest(octets));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("SHA-1: every JDK has it", impossible);
    }
  }
}
