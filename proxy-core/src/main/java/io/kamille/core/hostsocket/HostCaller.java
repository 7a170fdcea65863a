package io.kamille.core.hostsocket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.hostsocket.HostRequest.Connect;
import io.kamille.core.hostsocket.HostRequest.Find;
import io.kamille.core.hostsocket.HostRequest.Listen;
import io.kamille.core.hostsocket.HostRequest.Trouble;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.PacketFilter;
import io.kamille.core.socket.UnixSocket;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A sandbox that is connected to the helper, as the helper serves it: on a thread of its own, which
 * waits for nothing but the next request, so that it sees the caller leave.
 */
final class HostCaller {

  private final UnixSocket socket;
  private final AllowedAddresses allowed;
  private final EventLoopGroup loop;
  private final Consumer<String> log;

  @GuardedBy("this")
  private final Set<ChannelFuture> opening = new HashSet<>();

  @GuardedBy("this")
  private boolean isClosed;

  /**
   * Takes ownership of the socket.
   *
   * @param loop on which connections are opened
   * @param log for what the caller should not have done
   */
  HostCaller(
      UnixSocket socket, AllowedAddresses allowed, EventLoopGroup loop, Consumer<String> log) {
    this.socket = socket;
    this.allowed = allowed;
    this.loop = loop;
    this.log = log;
  }

  /** Answers until the caller leaves, or says what we do not understand. */
  void serve() {
    try {
      while (true) {
        UnixSocket.Message message = socket.receive(HostRequest.MOST_BYTES);
        message.descriptors().forEach(Descriptors::close);
        if (message.text().isEmpty()) {
          return;
        }
        int space = message.text().indexOf(' ');
        String number = message.text().substring(0, Math.max(0, space));
        HostRequest request = HostRequest.parse(message.text().substring(space + 1));
        if (request == null || !HostRequest.DIGITS.matcher(number).matches()) {
          log.accept("a sandbox sent no request, and was disconnected");
          return;
        }
        serve(number, request);
      }
    } catch (IOException gone) {
      log.accept("a sandbox was disconnected: " + gone.getMessage());
    } finally {
      close();
    }
  }

  private void serve(String number, HostRequest request) {
    switch (request) {
      case Connect connect when allowed.mayConnectTo(connect.address()) -> connect(number, connect);
      case Connect connect -> deny(number, "connect to " + HostRequest.text(connect.address()));
      case Listen listen when allowed.mayListenOn(listen.address()) -> listen(number, listen);
      case Listen listen -> deny(number, "listen on " + listen.address());
      case Find find when allowed.knows(find.name()) -> find(number, find.name());
      case Find find -> deny(number, "look up " + find.name());
    }
  }

  private void deny(String number, String what) {
    log.accept("a sandbox may not " + what);
    fail(number, Trouble.DENIED, "the helper is not allowed to " + what);
  }

  private void find(String number, String name) {
    List<InetAddress> found = allowed.find(name);
    if (found.isEmpty()) {
      fail(number, Trouble.OTHER, "the helper knows no address of " + name);
    } else {
      answer(
          number,
          found.stream()
              .limit(HostRequest.MOST_ADDRESSES)
              .map(InetAddress::getHostAddress)
              .collect(Collectors.joining(" ", HostRequest.FOUND + " ", "")),
          List.of());
    }
  }

  // Nothing is read here: the first octets are the sandbox's.
  private void connect(String number, Connect request) {
    if (isFull()) {
      fail(number, Trouble.LIMIT, "the helper opens no more connections at a time");
      return;
    }
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .option(ChannelOption.AUTO_READ, false)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, request.millis())
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) throws IOException {
                    PacketFilter.onlyFrom(request.address(), descriptor(channel));
                  }
                });
    ChannelFuture opened = bootstrap.channelFactory(LoopGroup::socket).connect(request.address());
    begun(opened);
    opened.addListener(done -> connected(number, opened));
  }

  private synchronized boolean isFull() {
    return opening.size() == HostRequest.MOST_AT_A_TIME;
  }

  private synchronized void begun(ChannelFuture opened) {
    opening.add(opened);
  }

  private synchronized void ended(ChannelFuture opened) {
    opening.remove(opened);
  }

  private static int descriptor(Channel channel) {
    return ((UnixChannel) channel).fd().intValue();
  }

  private void connected(String number, ChannelFuture opened) {
    ended(opened);
    Throwable cause = opened.cause();
    if (cause == null) {
      answer(number, HostRequest.GIVEN, List.of(descriptor(opened.channel())));
      opened.channel().close();
    } else {
      fail(number, trouble(cause), String.valueOf(cause.getMessage()));
    }
  }

  private static Trouble trouble(Throwable cause) {
    return switch (cause) {
      case ConnectTimeoutException late -> Trouble.LATE;
      case ConnectException refused -> Trouble.REFUSED;
      case ChannelException noSocket -> Trouble.LIMIT;
      default -> Trouble.OTHER;
    };
  }

  private void listen(String number, Listen request) {
    List<Socket> sockets = new ArrayList<>();
    try {
      InetSocketAddress address = request.address().socketAddress();
      if (address.isUnresolved()) {
        throw new IOException("unknown host");
      }
      for (int i = 0; i < request.sockets(); i++) {
        Socket opened = Socket.newSocketStream();
        sockets.add(opened);
        opened.setReuseAddress(true);
        opened.setReusePort(request.sockets() > 1);
        opened.bind(address);
        address = opened.localAddress();
        PacketFilter.onlyTo(address.getPort(), opened.intValue());
        opened.listen(request.backlog());
      }
      answer(number, HostRequest.GIVEN, sockets.stream().map(Socket::intValue).toList());
    } catch (IOException | ChannelException failed) {
      fail(
          number,
          Trouble.OTHER,
          "the helper cannot listen on " + request.address() + ": " + failed.getMessage());
    } finally {
      sockets.forEach(HostCaller::close);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed all the same.
    }
  }

  private void fail(String number, Trouble trouble, String reason) {
    answer(number, HostRequest.FAILED + " " + trouble + " " + reason, List.of());
  }

  /** Any thread. A caller that does not read its answers is disconnected. */
  private synchronized void answer(String number, String words, List<Integer> descriptors) {
    if (isClosed) {
      return;
    }
    try {
      if (!socket.offer(number + " " + words, descriptors)) {
        log.accept("a sandbox does not read its answers, and was disconnected");
        socket.shutdown();
      }
    } catch (IOException gone) {
      socket.shutdown();
    }
  }

  /** Ends what the caller's thread waits for. */
  synchronized void end() {
    if (!isClosed) {
      socket.shutdown();
    }
  }

  /** The caller's place is free once its connections are gone: else nothing bounds them. */
  private void close() {
    closeSocket().stream()
        // One that is done may have no channel; it ends in connected().
        .filter(opened -> !opened.isDone())
        .map(opened -> opened.channel().close())
        .toList()
        .forEach(ChannelFuture::awaitUninterruptibly);
  }

  private synchronized List<ChannelFuture> closeSocket() {
    isClosed = true;
    socket.close();
    return List.copyOf(opening);
  }
}
