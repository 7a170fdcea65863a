package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.SlowClients.Attack;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SlowClientsIT {

  @Test
  void aSlowHeadGetsOneOctetLongerEachTurnAndNeverEnds() throws IOException {
    try (var server = listen();
        var clients = new SlowClients(address(server), List.of(Attack.HEAD), 1)) {
      clients.turn(1);
      try (Socket accepted = server.accept()) {
        String opening = "GET /hit/1024 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
        assertThat(read(accepted, opening.length())).isEqualTo(opening);
        clients.turn(3);
        assertThat(read(accepted, 3)).isEqualTo("xxx");
      }
    }
  }

  @Test
  void slowContentComesOneOctetEachTurn() throws IOException {
    try (var server = listen();
        var clients = new SlowClients(address(server), List.of(Attack.POST), 1)) {
      clients.turn(1);
      try (Socket accepted = server.accept()) {
        assertThat(readHead(accepted)).startsWith("POST /made/1?").contains("Content-Length: ");
        clients.turn(2);
        assertThat(read(accepted, 2)).isEqualTo("xx");
      }
    }
  }

  @Test
  void whomTheServerEndsIsCountedAndComesBack() throws IOException {
    try (var server = listen();
        var clients = new SlowClients(address(server), List.of(Attack.READ), 1)) {
      clients.turn(1);
      try (Socket accepted = server.accept()) {
        readHead(accepted);
        accepted.setSoLinger(true, 0);
      }
      while (clients.ended() == 0) {
        clients.turn(1);
      }
      clients.turn(1);
      try (Socket accepted = server.accept()) {
        assertThat(readHead(accepted)).startsWith("GET /hit/1048576 ");
      }
    }
  }

  @Test
  void allOfEachKindConnectAtTheStart() throws IOException {
    try (var server = listen();
        var clients = new SlowClients(address(server), List.of(Attack.values()), 2)) {
      clients.start();
      for (int i = 0; i < 6; i++) {
        server.accept().close();
      }
    }
  }

  @Test
  void eachIsDueOnceASecondAndAllAreSpreadOverIt() throws IOException {
    var clock = new AtomicLong();
    try (var server = listen();
        var clients = new SlowClients(address(server), List.of(Attack.HEAD), 2, clock::get)) {
      clients.start();
      try (Socket first = server.accept();
          Socket second = server.accept()) {
        String opening = "GET /hit/1024 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
        read(first, opening.length());
        read(second, opening.length());

        clients.goOn();
        clock.set(TimeUnit.MILLISECONDS.toNanos(500));
        clients.goOn();
        clients.goOn();
        assertThat(read(first, 1)).isEqualTo("x");
        assertThat(second.getInputStream().available()).isZero();

        clock.set(TimeUnit.MILLISECONDS.toNanos(1000));
        clients.goOn();
        assertThat(read(second, 1)).isEqualTo("x");
        assertThat(first.getInputStream().available()).isZero();
      }
    }
  }

  private static ServerSocket listen() throws IOException {
    var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    server.setSoTimeout(60_000);
    return server;
  }

  private static InetSocketAddress address(ServerSocket server) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
  }

  private static String readHead(Socket socket) throws IOException {
    var head = new StringBuilder();
    while (!head.toString().endsWith("\r\n\r\n")) {
      head.append(read(socket, 1));
    }
    return head.toString();
  }

  private static String read(Socket socket, int length) throws IOException {
    socket.setSoTimeout(60_000);
    return new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
  }
}
