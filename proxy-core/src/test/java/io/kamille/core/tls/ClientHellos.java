package io.kamille.core.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** Clients that say what they are told to in their first message, and believe every server. */
public final class ClientHellos {

  private static final int TIMEOUT_MILLIS = 60_000;
  private static final int RECORD_AND_MESSAGE_HEADER = 5 + 4;

  private ClientHellos() {}

  /** The record with the ClientHello of the JDK. */
  public static byte[] record(@Nullable String name, String... protocols)
      throws GeneralSecurityException, SSLException {
    SSLEngine engine = jdk().createSSLEngine();
    engine.setUseClientMode(true);
    engine.setSSLParameters(parameters(engine.getSSLParameters(), name, protocols));
    return firstOf(engine);
  }

  /** The same record made that long by the extension {@code padding} (RFC 7685). */
  public static byte[] padded(byte[] record, int length) {
    ByteBuffer padded = ByteBuffer.wrap(Arrays.copyOf(record, length));
    int more = length - record.length;
    padded.putShort(3, (short) (length - 5));
    padded.putInt(5, padded.getInt(5) + more);
    int at = RECORD_AND_MESSAGE_HEADER + Short.BYTES + 32;
    at += 1 + padded.get(at);
    at += Short.BYTES + padded.getShort(at);
    at += 1 + padded.get(at);
    padded.putShort(at, (short) (padded.getShort(at) + more));
    padded.putShort(record.length, (short) 21);
    padded.putShort(record.length + Short.BYTES, (short) (more - 2 * Short.BYTES));
    return padded.array();
  }

  /** The ClientHello of the JDK from its version on. */
  static byte[] ofJdk(@Nullable String name, String... protocols)
      throws GeneralSecurityException, SSLException {
    return behindHeaders(record(name, protocols));
  }

  /** The same of BoringSSL, if it is there. */
  static byte[] ofBoringSsl(String name, String... protocols) throws SSLException {
    SslContext context = Handshake.client("TLSv1.3", protocols);
    SSLEngine engine = context.newEngine(ByteBufAllocator.DEFAULT, name, 443);
    try {
      return behindHeaders(firstOf(engine));
    } finally {
      ReferenceCountUtil.release(engine);
      ReferenceCountUtil.release(context);
    }
  }

  private static byte[] behindHeaders(byte[] record) {
    return Arrays.copyOfRange(record, RECORD_AND_MESSAGE_HEADER, record.length);
  }

  private static byte[] firstOf(SSLEngine engine) throws SSLException {
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    engine.beginHandshake();
    engine.wrap(ByteBuffer.allocate(0), out);
    return Arrays.copyOf(out.array(), out.position());
  }

  /**
   * A connection whose handshake is done.
   *
   * @param version of TLS alone
   * @param name null for a client that knows the address alone
   */
  public static SSLSocket connect(
      InetSocketAddress server, String version, @Nullable String name, String... protocols)
      throws GeneralSecurityException, IOException {
    var socket = (SSLSocket) jdk().getSocketFactory().createSocket();
    SSLParameters parameters = parameters(socket.getSSLParameters(), name, protocols);
    parameters.setProtocols(new String[] {version});
    socket.setSSLParameters(parameters);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.connect(server, TIMEOUT_MILLIS);
    socket.startHandshake();
    return socket;
  }

  private static SSLContext jdk() throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), new SecureRandom());
    return context;
  }

  private static SSLParameters parameters(
      SSLParameters parameters, @Nullable String name, String... protocols) {
    parameters.setServerNames(name == null ? List.of() : List.of(new SNIHostName(name)));
    parameters.setApplicationProtocols(protocols);
    return parameters;
  }
}
