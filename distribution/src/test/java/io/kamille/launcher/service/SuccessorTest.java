package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.UnixSocket;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What both sides of an upgrade say to each other until the new one serves. */
class SuccessorTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  @TempDir private Path directory;
  private final List<Socket> listening = new ArrayList<>();

  /** Has sockets alone. */
  private record Listeners(Map<String, List<Integer>> listeningSockets) implements Incumbent {

    @Override
    public Map<String, String> release(RemovalListener heir) {
      return Map.of();
    }

    @Override
    public void takeBack(Consumer<RemovalListener> meanwhile) {}

    @Override
    public RemovalListener follower() {
      throw new AssertionError("nobody has taken over");
    }

    @Override
    public void stepBack() {}
  }

  @BeforeAll
  static void loadNatives() {
    Epoll.ensureAvailability();
  }

  @AfterEach
  void close() throws IOException {
    for (Socket each : listening) {
      each.close();
    }
  }

  private int listen() throws IOException {
    Socket socket = Socket.newSocketStream();
    listening.add(socket);
    socket.bind(new InetSocketAddress(LOOPBACK, 0));
    socket.listen(10);
    return socket.intValue();
  }

  /** The kernel passes 253 at once. */
  @Test
  void howeverManyListeningSocketsAreHandedOver() throws Exception {
    Path control = directory.resolve("control");
    Successor successor = Successor.start(List.of("sleep", "100"), control, LIMIT);
    try (UnixSocket server = UnixSocket.listen(control.toString())) {
      List<Integer> descriptors = new ArrayList<>();
      for (int count : new int[] {0, 1, 253, 254, 600}) {
        while (descriptors.size() < count) {
          descriptors.add(listen());
        }
        int half = count / 2;
        Incumbent incumbent =
            new Listeners(
                Map.of("a", descriptors.subList(0, half), "b", descriptors.subList(half, count)));
        areHandedOver(successor, server, incumbent);
        assertThat(descriptors).allMatch(Descriptors::isListening);
      }
    } finally {
      successor.end();
    }
  }

  private void areHandedOver(Successor successor, UnixSocket server, Incumbent incumbent)
      throws Exception {
    String control = directory.resolve("control").toString();
    try (Predecessor predecessor =
            Predecessor.of(Map.of(Predecessor.VARIABLE, control)).orElseThrow();
        UnixSocket caller = Objects.requireNonNull(server.accept())) {
      CompletableFuture<Optional<RemovalFeed>> handedOver =
          CompletableFuture.supplyAsync(() -> handOver(successor, caller, incumbent));
      try (InheritedSockets inherited = predecessor.sockets()) {
        for (Socket socket : listening) {
          List<Integer> taken = inherited.take(Objects.requireNonNull(socket.localAddress()));
          assertThat(taken).hasSize(1).allMatch(Descriptors::isListening);
          taken.forEach(Descriptors::close);
        }
        assertThat(inherited.isEmpty()).isTrue();
      }
      Thread ready = Thread.startVirtualThread(predecessor::ready);
      assertThat(handedOver.get(20, TimeUnit.SECONDS)).isEmpty();
      ready.interrupt();
      ready.join();
    }
  }

  private static Optional<RemovalFeed> handOver(
      Successor successor, UnixSocket caller, Incumbent incumbent) {
    try {
      assertThat(caller.receive(100).text()).isEqualTo(Successor.TAKE_OVER);
      return successor.handOver(caller, incumbent);
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }
}
