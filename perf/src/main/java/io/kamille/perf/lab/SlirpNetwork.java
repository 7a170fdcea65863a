package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Kamille in a network namespace with a TAP device, whose packets slirp4netns turns into sockets of
 * the host and back. Rootless containers have their network so.
 */
final class SlirpNetwork {

  static final String PROGRAM = "slirp4netns";

  /** The host's loopback address, and the guest's own, as slirp4netns gives them. */
  private static final String HOST = "10.0.2.2";

  private static final String GUEST = "10.0.2.100";

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
  private static final int ANSWER_BYTES = 4096;

  private SlirpNetwork() {}

  /** Kamille and slirp4netns, which listens on the place's port of the host. */
  static List<Child> start(Workbench bench, Kamille kamille, Path directory, Place place)
      throws IOException {
    var everywhere =
        new Place(
            place.job(),
            "0.0.0.0",
            place.port(),
            place.originPort(),
            place.connections(),
            place.javaOptions());
    List<String> command = kamille.prepare(directory, everywhere);
    Path file = directory.resolve("kamille.yaml");
    Files.writeString(
        file, Files.readString(file).replace("http://127.0.0.1:", "http://" + HOST + ":"));
    Child guest = bench.start("slirp-guest", Core.SERVER, SandboxNetworks.unshared(command));
    guest.awaitPrinted("listening on", 1, START_LIMIT);
    Path api = directory.resolve("api");
    Child network =
        bench.start(
            PROGRAM,
            Core.SERVER,
            List.of(
                PROGRAM,
                "--configure",
                "--mtu=65520",
                "--api-socket=" + api,
                Long.toString(guest.pid()),
                "tap0"));
    forward(api, place.port());
    return List.of(guest, network);
  }

  private static void forward(Path api, int port) throws IOException {
    String request =
        """
        {"execute": "add_hostfwd", "arguments": {"proto": "tcp", "host_addr": "127.0.0.1", \
        "host_port": PORT, "guest_addr": "GUEST", "guest_port": PORT}}
        """
            .replace("PORT", Integer.toString(port))
            .replace("GUEST", GUEST);
    try (var channel = connect(api)) {
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8)));
      channel.shutdownOutput();
      ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
      channel.read(answer);
      String text = StandardCharsets.UTF_8.decode(answer.flip()).toString();
      if (!text.contains("\"id\"")) {
        throw new IOException(PROGRAM + " forwards no port: " + text);
      }
    }
  }

  private static SocketChannel connect(Path api) throws IOException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (true) {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.connect(UnixDomainSocketAddress.of(api));
        return channel;
      } catch (IOException early) {
        channel.close();
        if (System.nanoTime() - deadline > 0) {
          throw early;
        }
        LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      }
    }
  }
}
