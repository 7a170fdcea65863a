package io.kamille.launcher.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.h1.FuzzBudget;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.TrustingAll;
import io.kamille.launcher.fuzz.SpoilingSocket.Spoil;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Whatever happens to the records of a client, within the handshake or behind it, its connection
 * ends, no request is made of them, and the connection of another client goes on. {@code ./dev fuzz
 * secure SECONDS} looks longer.
 */
class SecureFuzzIT {

  private static final String CLIENT = "127.0.0.1";

  /** Beyond the last octet that a client sends here. */
  private static final int OCTETS = 1_200;

  private static final byte[] GET =
      "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final RecordingOrigin origin;
  private final Appliance appliance;
  private final InetSocketAddress address;

  SecureFuzzIT() throws IOException {
    origin = RecordingOrigin.open();
    origin.expect(CLIENT);
    appliance = FuzzedAppliance.start("tls: self-signed", origin.url());
    address = FuzzedAppliance.address(appliance);
  }

  @AfterEach
  void close() throws IOException {
    appliance.close();
    origin.close();
  }

  @Test
  void spoiledRecordsEndTheirConnectionAlone() throws IOException {
    SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
    FuzzBudget budget = new FuzzBudget(200);
    int answered = 0;
    try (TestH2Client other = TestH2Client.over(secured(new Socket(), "h2"))) {
      while (budget.hasNext()) {
        Spoil spoil = Spoil.values()[random.nextInt(Spoil.values().length)];
        int place = random.nextInt(OCTETS);
        byte value = (byte) random.nextInt();
        String protocol = random.nextBoolean() ? "TLSv1.2" : "TLSv1.3";
        String what =
            "seed "
                + FuzzBudget.SEED
                + ", round "
                + budget.round()
                + ": "
                + spoil
                + " at "
                + place
                + ", "
                + protocol;
        try (var socket = new SpoilingSocket(address, spoil, place, value)) {
          answered += asked(socket, protocol) ? 1 : 0;
          assertThat(ends(socket)).as(what).isTrue();
        }
        int stream = (int) (2 * budget.round() - 1);
        other.headers(
            stream, true, ":method", "GET", ":scheme", "https", ":path", "/b", ":authority", "a");
        assertThat(other.answer(stream).status()).as(what).isEqualTo(200);
        assertThat(origin.faults()).as(what).isEmpty();
      }
    }
    budget.report("spoiled records, " + answered + " answered");
    assertThat(answered).isBetween(1, (int) budget.round() - 1);
  }

  /** Two requests within TLS; whether an answer came that is one of ours. */
  private static boolean asked(SpoilingSocket socket, String protocol) {
    try {
      SSLSocket secure =
          (SSLSocket)
              TrustingAll.context().getSocketFactory().createSocket(socket, "localhost", 1, false);
      secure.setEnabledProtocols(new String[] {protocol});
      secure.getOutputStream().write(GET);
      byte[] begun = secure.getInputStream().readNBytes(12);
      String text = new String(begun, StandardCharsets.US_ASCII);
      assertThat("HTTP/1.1 200").startsWith(text);
      return !text.isEmpty();
    } catch (IOException broken) {
      return false;
    }
  }

  /** Whether the other side closes once nothing more comes. */
  private static boolean ends(Socket socket) {
    try {
      if (!socket.isOutputShutdown()) {
        socket.shutdownOutput();
      }
      InputStream in = socket.getInputStream();
      return in.readAllBytes() != null;
    } catch (SocketTimeoutException hangs) {
      return false;
    } catch (IOException reset) {
      return true;
    }
  }

  private SSLSocket secured(Socket socket, String protocol) throws IOException {
    socket.setSoTimeout(20_000);
    socket.connect(address);
    SSLSocket secure =
        (SSLSocket)
            TrustingAll.context().getSocketFactory().createSocket(socket, "localhost", 1, true);
    SSLParameters parameters = secure.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {protocol});
    secure.setSSLParameters(parameters);
    return secure;
  }
}
