package io.kamille.core.hostsocket;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kamille.core.loop.LoopGroup;
import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.ClosedPort;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.SystemCall;
import io.kamille.core.socket.UnixSocket;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sandbox gets of its host, and what a hostile one does not get. */
class HostSocketsTest {

  private static final InetAddress HERE = InetAddress.getLoopbackAddress();
  private static final HostPort FREE_PORT = new HostPort("127.0.0.1", 0);
  private static final int NOBODY = -1;
  private static final int MOST_BYTES = 4096;
  private static final int AF_INET = 2;

  @TempDir private Path directory;
  private final LoopGroup loops = new LoopGroup(1);
  private final ServerSocket origin = new ServerSocket(0, 50, HERE);
  private final ClosedPort closed = ClosedPort.open();
  private final AllowedAddresses allowed =
      AllowedAddresses.of(
          List.of(FREE_PORT),
          List.of(
              new HostPort("127.0.0.1", origin.getLocalPort()),
              new HostPort("localhost", origin.getLocalPort()),
              new HostPort("127.0.0.1", closed.number())));

  HostSocketsTest() throws IOException {}

  @AfterEach
  void close() throws IOException {
    allowed.close();
    origin.close();
    closed.close();
    loops.close();
  }

  private Path path() {
    return directory.resolve("host.sock");
  }

  private HostSocketServer serve() throws IOException {
    return HostSocketServer.open(path(), NOBODY, allowed);
  }

  private UnixSocket caller() throws IOException {
    UnixSocket caller = UnixSocket.connect(path().toString());
    caller.timeout(Duration.ofSeconds(60));
    return caller;
  }

  private UnixSocket.Message ask(String words) throws IOException {
    try (UnixSocket caller = caller()) {
      caller.send(words, List.of());
      return caller.receive(MOST_BYTES);
    }
  }

  private InetSocketAddress originAddress() {
    return (InetSocketAddress) origin.getLocalSocketAddress();
  }

  private String connecting() {
    return "1 connect " + HostRequest.text(originAddress()) + " 5000";
  }

  /** What the origin says first, over a connection that the helper opened. */
  private CompletableFuture<String> greeting(HostSockets sockets, InetSocketAddress address) {
    CompletableFuture<String> heard = new CompletableFuture<>();
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loops.loops().getFirst())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 60_000)
            .handler(
                new ChannelInboundHandlerAdapter() {
                  @Override
                  public void channelRead(ChannelHandlerContext context, Object message) {
                    ByteBuf in = (ByteBuf) message;
                    heard.complete(in.toString(US_ASCII));
                    in.release();
                    context.close();
                  }
                });
    sockets
        .connect(bootstrap, address)
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                heard.completeExceptionally(connected.cause());
              }
            });
    return heard;
  }

  private void greet() throws IOException {
    try (Socket accepted = origin.accept()) {
      accepted.getOutputStream().write("hello".getBytes(US_ASCII));
    }
  }

  /** A helper that ends may have opened a connection that it gives to nobody. */
  private void greetAll() {
    try {
      while (true) {
        greet();
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  @Test
  void aSandboxTalksToAnOriginOverASocketOfItsHost() throws Exception {
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      CompletableFuture<String> heard = greeting(sockets, originAddress());
      greet();
      assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("hello");
    }
  }

  /** The helper takes nothing of what comes, also if all of it comes at once. */
  @Test
  void whatAnOriginSaysBeforeItClosesComes() throws Exception {
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      for (int i = 0; i < 300; i++) {
        CompletableFuture<String> heard = greeting(sockets, originAddress());
        greet();
        assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("hello");
      }
    }
  }

  /** As a check of an origin's health does. */
  @Test
  void aConnectionThatItsHandlerClosesAtOnceWasOpenedAllTheSame() throws Exception {
    ChannelInboundHandlerAdapter closing =
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelActive(ChannelHandlerContext context) {
            context.close();
          }
        };
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      Bootstrap bootstrap =
          new Bootstrap()
              .group(loops.loops().getFirst())
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 60_000)
              .handler(closing);
      assertThat(sockets.connect(bootstrap, originAddress()).await().isSuccess()).isTrue();
    }
  }

  @Test
  void requestsWaitForAHelperThatStartsLaterOrAgain() throws Exception {
    Thread.ofVirtual().start(this::greetAll);
    try (HostSockets sockets = HostSockets.open(path())) {
      for (int i = 0; i < 3; i++) {
        CompletableFuture<String> heard = greeting(sockets, originAddress());
        try (HostSocketServer server = serve()) {
          assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("hello");
          assertThat(server.path()).exists();
        }
      }
    }
  }

  @Test
  void aListenerIsTheHosts() throws Exception {
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      List<Integer> given = sockets.listen(FREE_PORT, 16, 3);
      assertThat(given).hasSize(3).allMatch(Descriptors::isListening);
      assertThat(given.stream().map(Descriptors::localAddress).distinct()).hasSize(1);
      InetSocketAddress address = addressOf(given.getFirst());
      try (Socket client = new Socket(HERE, address.getPort())) {
        assertThat(client.isConnected()).isTrue();
      }
      given.forEach(Descriptors::close);
    }
  }

  @Test
  void namesOfOriginsAreLookedUpByTheHelper() throws Exception {
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      assertThat(sockets.find("localhost").get().addresses())
          .contains(InetAddress.ofLiteral("127.0.0.1"));
      assertThatThrownBy(() -> sockets.find("example.com").get())
          .hasMessageContaining("not allowed to look up example.com");
    }
  }

  @Test
  void whatIsNotAllowedIsRefusedWithTheReason() throws Exception {
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path());
        ServerSocket secret = new ServerSocket(0, 1, HERE)) {
      InetSocketAddress other = (InetSocketAddress) secret.getLocalSocketAddress();
      assertThatThrownBy(() -> greeting(sockets, other).get())
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("not allowed to connect to 127.0.0.1:" + other.getPort());
      assertThatThrownBy(() -> sockets.listen(new HostPort("", 80), 16, 1))
          .hasMessageContaining("not allowed to listen on :80");
    }
  }

  @Test
  void anOriginThatRefusesIsKnownAsOne() throws Exception {
    InetSocketAddress refusing = new InetSocketAddress(HERE, closed.number());
    try (HostSocketServer server = serve();
        HostSockets sockets = HostSockets.open(server.path())) {
      assertThatThrownBy(() -> greeting(sockets, refusing).get())
          .hasCauseInstanceOf(ConnectException.class);
    }
  }

  @Test
  void withoutAHelperTheReasonSaysSo() {
    try (HostSockets sockets = HostSockets.open(path())) {
      Bootstrap bootstrap =
          new Bootstrap()
              .group(loops.loops().getFirst())
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 1)
              .handler(new ChannelInboundHandlerAdapter());
      assertThat(sockets.connect(bootstrap, originAddress()).awaitUninterruptibly().cause())
          .hasMessageContaining("no helper at " + path());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense",
        "1",
        "1 connect",
        "1 connect 127.0.0.1 5000",
        "1 connect 127.0.0.1:0 5000",
        "1 connect localhost:80 5000",
        "1 connect 127.0.0.1:80 0",
        "1 connect 127.0.0.1:80 99999999",
        "1 connect 127.0.0.1:80 5000 more",
        "1 listen :80 0 1",
        "1 listen :80 16 65",
        "1 listen :80 16 -1",
        "1 find ",
        "1 find a b",
        "x connect 127.0.0.1:80 5000",
        "9999999999 find localhost",
        "1  find localhost",
        "\u0000"
      })
  void whoSaysWhatIsNoRequestIsDisconnected(String words) throws IOException {
    try (HostSocketServer server = serve()) {
      assertThat(ask(words).text()).isEmpty();
      assertThat(ask("7 find localhost").text()).startsWith("7 found ");
      assertThat(server.path()).exists();
    }
  }

  @Test
  void descriptorsThatASandboxSendsAreClosed() throws IOException {
    try (HostSocketServer server = serve();
        UnixSocket caller = caller()) {
      long before = open();
      for (int i = 0; i < 100; i++) {
        int copy = Descriptors.copyOf(1);
        caller.send("1 find localhost", List.of(copy, copy, copy));
        Descriptors.close(copy);
        assertThat(caller.receive(MOST_BYTES).text()).startsWith("1 found");
      }
      assertThat(open() - before).isLessThan(100);
      assertThat(server.path()).exists();
    }
  }

  private static long open() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.count();
    }
  }

  @Test
  void aSandboxThatReadsNoAnswersIsDisconnected() throws IOException {
    try (HostSocketServer server = serve();
        UnixSocket caller = caller()) {
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 100_000; i++) {
                  caller.send("1 find localhost", List.of());
                }
              })
          .isInstanceOf(IOException.class);
      assertThat(ask("7 find localhost").text()).startsWith("7 found ");
      assertThat(server.path()).exists();
    }
  }

  @Test
  void oneMoreThanTheMostConnectionsIsRefusedUntilAnotherLeaves() throws IOException {
    List<UnixSocket> callers = new ArrayList<>();
    try (HostSocketServer server = serve()) {
      for (int i = 0; i < 8; i++) {
        UnixSocket caller = caller();
        callers.add(caller);
        caller.send("1 find localhost", List.of());
        assertThat(caller.receive(MOST_BYTES).text()).startsWith("1 found");
      }
      try (UnixSocket ninth = caller()) {
        assertThat(ninth.receive(MOST_BYTES).text()).isEmpty();
      }
      assertThat(server.path()).exists();
    } finally {
      callers.forEach(UnixSocket::close);
    }
  }

  @Test
  void connectionsThatACallerBeganEndWithIt() throws IOException {
    List<Socket> line = new ArrayList<>();
    try (ServerSocket silent = new ServerSocket(0, 1, HERE);
        AllowedAddresses both = AllowedAddresses.of(List.of(), List.of(at(silent)));
        HostSocketServer server = HostSocketServer.open(path(), NOBODY, both)) {
      fill(silent, line);
      long before = open();
      try (UnixSocket caller = caller()) {
        String connect = " connect " + HostRequest.text(addressOf(silent)) + " 60000";
        for (int i = 1; i <= HostRequest.MOST_AT_A_TIME + 1; i++) {
          caller.send(i + connect, List.of());
        }
        assertThat(caller.receive(MOST_BYTES).text()).startsWith("65 failed LIMIT");
        assertThat(open() - before).isGreaterThanOrEqualTo(HostRequest.MOST_AT_A_TIME);
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (open() - before >= HostRequest.MOST_AT_A_TIME / 2 && System.nanoTime() - end < 0) {
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(open() - before).isLessThan(HostRequest.MOST_AT_A_TIME / 2);
      assertThat(server.path()).exists();
    } finally {
      for (Socket socket : line) {
        socket.close();
      }
    }
  }

  /** Connects until the kernel drops each SYN, because nobody accepts. */
  private static void fill(ServerSocket silent, List<Socket> line) throws IOException {
    try {
      while (true) {
        Socket next = new Socket();
        line.add(next);
        next.connect(silent.getLocalSocketAddress(), 200);
      }
    } catch (SocketTimeoutException full) {
      assertThat(line).hasSizeGreaterThan(1);
    }
  }

  private static HostPort at(ServerSocket socket) {
    return new HostPort("127.0.0.1", socket.getLocalPort());
  }

  private static InetSocketAddress addressOf(ServerSocket socket) {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  /** Each refusal is cheap: the line is not searched for what never stood in it. */
  @Test
  void whatFindsTheLineFullIsRefusedAndTheLineStays() {
    List<Future<?>> line = new ArrayList<>();
    try (HostSockets sockets = HostSockets.open(path())) {
      Bootstrap bootstrap =
          new Bootstrap()
              .group(loops.loops().getFirst())
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, HostRequest.MOST_MILLIS)
              .handler(new ChannelInboundHandlerAdapter());
      for (int i = 0; i < 1 << 16; i++) {
        line.add(sockets.connect(bootstrap, originAddress()));
      }
      for (int i = 0; i < 100_000; i++) {
        assertThat(sockets.find("localhost").isCompletedExceptionally()).isTrue();
      }
      assertThat(line.stream().anyMatch(Future::isDone)).isFalse();
    }
    assertThat(line.getLast().awaitUninterruptibly().cause()).hasMessage("closing");
  }

  private static InetSocketAddress addressOf(int descriptor) {
    return Objects.requireNonNull(Descriptors.localAddress(descriptor));
  }

  /** Any process with a socket may disconnect it and connect it to something else. */
  @Test
  void aGivenConnectionLeadsNowhereElse() throws IOException {
    try (HostSocketServer server = serve();
        ServerSocket secret = new ServerSocket(0, 1, HERE)) {
      UnixSocket.Message given = ask(connecting());
      assertThat(given.text()).isEqualTo("1 given");
      int descriptor = given.descriptors().getFirst();
      assertThat(isOpened(descriptor, secret)).isFalse();
      assertThat(server.path()).exists();
    }
  }

  @Test
  void aGivenListenerAndWhatItAcceptsConnectNowhere() throws IOException {
    try (HostSocketServer server = serve();
        ServerSocket secret = new ServerSocket(0, 1, HERE)) {
      UnixSocket.Message given = ask("1 listen 127.0.0.1:0 16 1");
      int listening = given.descriptors().getFirst();
      InetSocketAddress address = addressOf(listening);
      try (Socket client = new Socket(HERE, address.getPort())) {
        int accepted = (int) SystemCall.ACCEPT4.call(listening, 0, 0);
        assertThat(client.isConnected()).isTrue();
        assertThat(isOpened(accepted, secret)).isFalse();
      }
      assertThat(isOpened(listening, secret)).isFalse();
      assertThat(server.path()).exists();
    }
  }

  @Test
  void theFilterCannotBeTakenOff() throws IOException {
    try (HostSocketServer server = serve()) {
      int descriptor = ask(connecting()).descriptors().getFirst();
      try (Arena scope = Arena.ofConfined()) {
        MemorySegment zero = scope.allocateFrom(ValueLayout.JAVA_INT, 0);
        for (int option : new int[] {27, 44}) {
          assertThat(SystemCall.SETSOCKOPT.call(descriptor, 1, option, zero.address(), 4, 0))
              .isEqualTo(-1);
        }
      }
      Descriptors.close(descriptor);
      assertThat(server.path()).exists();
    }
  }

  /** Whether that socket, connected anew, is a connection to {@code other}. Takes ownership. */
  private static boolean isOpened(int descriptor, ServerSocket other) throws IOException {
    Descriptors.neverBlock(descriptor);
    int port = other.getLocalPort();
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment nobody = scope.allocate(28, 4);
      assertThat(SystemCall.CONNECT.call(descriptor, nobody.address(), 16)).isZero();
      MemorySegment address = scope.allocate(28, 4);
      boolean isV6 = family(descriptor, scope) != AF_INET;
      address.set(ValueLayout.JAVA_SHORT, 0, (short) (isV6 ? 10 : AF_INET));
      address.set(ValueLayout.JAVA_SHORT, 2, Short.reverseBytes((short) port));
      byte[] octets = isV6 ? mapped() : HERE.getAddress();
      MemorySegment.copy(octets, 0, address, ValueLayout.JAVA_BYTE, isV6 ? 8 : 4, octets.length);
      SystemCall.CONNECT.call(descriptor, address.address(), isV6 ? 28 : 16);
      other.setSoTimeout(200);
      other.accept().close();
      return true;
    } catch (SocketTimeoutException nobodyCame) {
      return false;
    } finally {
      Descriptors.close(descriptor);
    }
  }

  private static int family(int descriptor, Arena scope) {
    MemorySegment family = scope.allocate(ValueLayout.JAVA_INT);
    MemorySegment length = scope.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
    SystemCall.GETSOCKOPT.call(descriptor, 1, 39, family.address(), length.address(), 0);
    return family.get(ValueLayout.JAVA_INT, 0);
  }

  private static byte[] mapped() {
    byte[] octets = new byte[16];
    octets[10] = -1;
    octets[11] = -1;
    System.arraycopy(HERE.getAddress(), 0, octets, 12, 4);
    return octets;
  }

  @Test
  void theSocketIsForItsOwnerAlone() throws IOException {
    try (HostSocketServer server = serve()) {
      assertThat(Files.getPosixFilePermissions(server.path())).hasSize(2);
      assertThatThrownBy(this::serve).hasMessageContaining("another process listens there");
    }
  }

  /** They could put a link in its place, and the helper would change the mode of another file. */
  @Test
  void aDirectoryThatOthersMayChangeIsNoPlaceForTheSocket() throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(this::serve).hasMessageContaining(directory + ": others may write here");
  }

  @Test
  void anotherUserGetsNothingWhateverTheModeOfTheFile() throws Exception {
    assumeTrue(Files.getAttribute(directory, "unix:uid").equals(0), "only root can be another");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (HostSocketServer server = serve()) {
      Files.setPosixFilePermissions(server.path(), PosixFilePermissions.fromString("rw-rw-rw-"));
      assertThat(answerTo(65534)).isEqualTo("0");
      assertThat(answerTo(0)).isNotEqualTo("0");
    }
    try (HostSocketServer server = HostSocketServer.open(path(), 65534, allowed)) {
      assertThat(Files.getAttribute(server.path(), "unix:uid")).isEqualTo(65534);
      assertThat(answerTo(65534)).isNotEqualTo("0");
    }
  }

  /** How many octets the helper answers to a process of that user. */
  private String answerTo(int user) throws Exception {
    Process process =
        new ProcessBuilder(
                "setpriv",
                "--reuid=" + user,
                "--clear-groups",
                "perl",
                "-MSocket",
                "-e",
                "socket(S, PF_UNIX, SOCK_SEQPACKET, 0) or die; connect(S, sockaddr_un($ARGV[0]))"
                    + " or die; send(S, '1 find localhost', MSG_NOSIGNAL);"
                    + " recv(S, $answer, 100, 0); print length($answer // '')",
                path().toString())
            .redirectErrorStream(true)
            .start();
    return new String(process.getInputStream().readAllBytes(), US_ASCII);
  }
}
