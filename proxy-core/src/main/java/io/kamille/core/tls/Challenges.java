package io.kamille.core.tls;

import io.netty.buffer.ByteBuf;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What certificate authorities may ask of us now, to see that a name is ours (RFC 8555 §8.3, RFC
 * 8737). Empty but for the seconds of an order. Any thread; changed by one at a time.
 */
public final class Challenges {

  /** The protocol by which an authority asks in a handshake (RFC 8737 §6.2). */
  public static final String PROTOCOL = "acme-tls/1";

  private static final TlsPolicy POLICY =
      new TlsPolicy(TlsProfile.INTERMEDIATE, ClientCertificates.NONE, List.of(PROTOCOL));

  // A ClientHello (RFC 8446 §4.1.2) before its session id, and the extension of ALPN (RFC 7301).
  private static final int VERSION_AND_RANDOM = 34;
  private static final int ALPN = 16;

  private final TicketKeys ticketKeys = TicketKeys.fresh(new SecureRandom());
  private volatile Map<String, String> answers = Map.of();
  private volatile Map<String, ServerContext> contexts = Map.of();

  /**
   * Replaces all that may be asked.
   *
   * @param byToken what HTTP answers for each token
   * @param byName what a handshake for each server name shows, in lower case
   * @throws IOException if a certificate is refused; all stays as it was
   */
  public synchronized void replace(
      Map<String, String> byToken, Map<String, ServerCertificate> byName) throws IOException {
    Map<String, ServerContext> next = new HashMap<>();
    for (Map.Entry<String, ServerCertificate> each : byName.entrySet()) {
      ServerContext before = contexts.get(each.getKey());
      if (before != null && before.certificates().contains(each.getValue())) {
        next.put(each.getKey(), before);
      } else {
        ServerContext context = new ServerContext(List.of(each.getValue()), POLICY);
        context.build(() -> ticketKeys);
        next.put(each.getKey(), context);
      }
    }
    Map<String, ServerContext> gone = contexts;
    answers = Map.copyOf(byToken);
    contexts = Map.copyOf(next);
    gone.values().stream().filter(each -> !next.containsValue(each)).forEach(ServerContext::retire);
  }

  /** Whether HTTP is asked now. */
  public boolean areAskedByHttp() {
    return !answers.isEmpty();
  }

  /** The key authorization of that very token (RFC 8555 §8.3); null if nobody awaits it. */
  public @Nullable String answer(String token) {
    return answers.get(token);
  }

  /** What a handshake for that name shows; null if nobody awaits it. */
  public ServerTls.@Nullable Choice choose(@Nullable String name) {
    ServerContext server = name == null ? null : contexts.get(name);
    if (server == null) {
      return null;
    }
    SslContext context = server.acquire();
    return context == null ? null : new ServerTls.Choice(server, context);
  }

  /** Whether a client offers {@link #PROTOCOL} and nothing else (RFC 8737 §4). */
  public static boolean areAskedBy(List<String> offered) {
    return offered.equals(POLICY.protocols());
  }

  /**
   * The protocols that a ClientHello offers by ALPN (RFC 7301 §3.1); none if it has no whole list.
   *
   * @param hello from its version on; borrowed
   */
  public static List<String> offered(ByteBuf hello) {
    int at = hello.readerIndex() + VERSION_AND_RANDOM;
    int end = hello.writerIndex();
    if (end - at < 6) {
      return List.of();
    }
    at += 1 + hello.getUnsignedByte(at);
    at += 2 + (end - at < 2 ? end : hello.getUnsignedShort(at));
    at += 1 + (end - at < 1 ? end : hello.getUnsignedByte(at));
    for (at += 2; end - at >= 4; ) {
      int length = hello.getUnsignedShort(at + 2);
      if (hello.getUnsignedShort(at) == ALPN) {
        return end - at >= 4 + length ? names(hello, at + 6, at + 4 + length) : List.of();
      }
      at += 4 + length;
    }
    return List.of();
  }

  private static List<String> names(ByteBuf hello, int from, int end) {
    List<String> names = new ArrayList<>();
    for (int at = from; at < end; ) {
      int length = hello.getUnsignedByte(at++);
      if (length > end - at) {
        return List.of();
      }
      names.add(hello.toString(at, length, StandardCharsets.US_ASCII));
      at += length;
    }
    return names;
  }
}
