package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.load.FaultyOrigin.Arrival;
import io.kamille.perf.load.FaultyOrigin.Fault;
import io.kamille.perf.load.FaultyOrigin.Role;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FaultyOriginIT {

  private static final int LIMIT_MILLIS = 60_000;
  private static final String OK = "HTTP/1.1 200 OK\r\n";

  private final FaultyOrigin origin = FaultyOrigin.open(List.of(0, 0, 0));
  private final int[] ports = {
    origin.port(Role.FAULTY), origin.port(Role.PARTNER), origin.port(Role.OTHER)
  };

  @AfterEach
  void close() {
    origin.close();
  }

  @Test
  void allAnswerWhileNothingFails() throws IOException {
    for (int port : ports) {
      assertThat(ask(port, "/a")).startsWith(OK).contains("no-store");
    }
  }

  @Test
  void aRefusingOriginListensAgainOnceItIsSound() throws IOException {
    order(Fault.REFUSED);
    assertThatThrownBy(() -> ask(ports[0], "/a")).isInstanceOf(ConnectException.class);
    assertThat(ask(ports[1], "/a")).startsWith(OK);
    order(Fault.NONE);
    assertThat(ask(ports[0], "/a")).startsWith(OK);
  }

  @Test
  void aResettingOriginBreaksOffWithinTheHead() throws IOException {
    order(Fault.RESET);
    assertThatThrownBy(() -> ask(ports[0], "/a")).isInstanceOf(IOException.class);
  }

  @Test
  void aDrippingOriginSendsTheHeadOctetByOctet() throws IOException {
    order(Fault.DRIP);
    try (Socket socket = connect(ports[0])) {
      send(socket, "/a");
      assertThat(read(socket, 4)).isEqualTo("HTTP");
    }
  }

  @Test
  void aFailingOriginAnswers503AndItsPartnerDoesNot() throws IOException {
    order(Fault.ERROR);
    assertThat(ask(ports[0], "/a")).startsWith("HTTP/1.1 503 ");
    assertThat(ask(ports[1], "/a")).startsWith(OK);
  }

  @Test
  void aSlowOriginAnswersAllTheSame() throws IOException {
    order(Fault.SLOW);
    assertThat(ask(ports[0], "/a")).startsWith(OK);
  }

  @Test
  void aHangingOriginIsCutOffWhenItChanges() throws IOException {
    order(Fault.HANG);
    try (Socket socket = connect(ports[0])) {
      send(socket, "/a");
      while (arrivals().isEmpty()) {
        Thread.onSpinWait();
      }
      order(Fault.NONE);
      assertThat(socket.getInputStream().read()).isNegative();
    }
    assertThat(ask(ports[0], "/a")).startsWith(OK);
  }

  @Test
  void arrivalsSinceTheLastChangeAreTold() throws IOException {
    ask(ports[0], "/a");
    order(Fault.NONE);
    long begin = System.nanoTime();
    ask(ports[1], "/a");
    ask(ports[0], "/a");
    ask(ports[2], "/b");
    List<Arrival> arrivals = arrivals();
    assertThat(arrivals).extracting(Arrival::role).containsExactly(Role.PARTNER, Role.FAULTY);
    assertThat(arrivals)
        .allMatch(arrival -> arrival.nanos() >= begin && arrival.nanos() <= System.nanoTime());
  }

  @Test
  void aPostThatComesAgainIsCountedWhereverItComes() throws IOException {
    post(ports[0], "/a?1");
    post(ports[1], "/a?2");
    post(ports[1], "/a?1");
    assertThat(twice()).isEqualTo(1);
    post(ports[1], "/a?1");
    assertThat(twice()).as("forgotten with the count").isZero();
  }

  private int twice() throws IOException {
    String answer = ask(ports[2], FaultyOrigin.CONTROL + FaultyOrigin.TWICE);
    return Integer.parseInt(answer.substring(answer.indexOf("\r\n\r\n") + 4));
  }

  private static void post(int port, String path) throws IOException {
    try (Socket socket = connect(port)) {
      String request = "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertThat(read(socket, OK.length())).isEqualTo(OK);
    }
  }

  private List<Arrival> arrivals() throws IOException {
    String answer = ask(ports[2], FaultyOrigin.CONTROL + FaultyOrigin.ARRIVALS);
    return FaultyOrigin.parse(answer.substring(answer.indexOf("\r\n\r\n") + 4));
  }

  private void order(Fault fault) throws IOException {
    assertThat(ask(ports[2], FaultyOrigin.CONTROL + fault.label())).startsWith(OK);
  }

  /** The head, and as much content as it says. */
  private static String ask(int port, String path) throws IOException {
    try (Socket socket = connect(port)) {
      send(socket, path);
      var head = new StringBuilder();
      while (!head.toString().endsWith("\r\n\r\n")) {
        head.append(read(socket, 1));
      }
      String text = head.toString();
      int length = text.indexOf("Content-Length: ") + "Content-Length: ".length();
      int count = Integer.parseInt(text.substring(length, text.indexOf('\r', length)));
      return text + read(socket, count);
    }
  }

  private static Socket connect(int port) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(LIMIT_MILLIS);
    return socket;
  }

  private static void send(Socket socket, String path) throws IOException {
    String request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
  }

  private static String read(Socket socket, int length) throws IOException {
    byte[] octets = socket.getInputStream().readNBytes(length);
    if (octets.length < length) {
      throw new IOException("closed after " + octets.length + " of " + length + " octets");
    }
    return new String(octets, StandardCharsets.ISO_8859_1);
  }
}
