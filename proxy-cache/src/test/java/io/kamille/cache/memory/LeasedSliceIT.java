package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Slices through a real epoll socket: the octets arrive unchanged and every lease ends. */
class LeasedSliceIT {

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final Arena arena = Arena.open(32 << 20);

  @AfterEach
  void everyLeaseHasEnded() {
    loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    arena.close();
  }

  @Test
  void severalSlicesGoOutInOneGatheringWrite() throws IOException {
    StoredBytes head = ArenaTest.store(arena, 300);
    StoredBytes content = ArenaTest.store(arena, 200_000);
    byte[] received =
        exchange(
            context -> {
              head.forEachSlice(0, 300, context::write);
              content.forEachSlice(0, 100_000, context::write);
              content.forEachSlice(100_000, 100_000, context::write);
            });
    assertThat(received).isEqualTo(joined(ArenaTest.pattern(300), ArenaTest.pattern(200_000)));
    assertThat(head.leases()).isEqualTo(1);
    assertThat(content.leases()).isEqualTo(1);
    head.release();
    content.release();
  }

  @Test
  void moreSlicesThanAnIovecHoldsArriveInOrder() throws IOException {
    int objects = 12_000;
    List<StoredBytes> gaps = new ArrayList<>();
    for (int i = 0; i < objects; i++) {
      gaps.add(ArenaTest.store(arena, Block.GRANULE_BYTES));
    }
    StoredBytes rest = ArenaTest.store(arena, (int) arena.freeBytes());
    for (int i = 0; i < objects; i += 2) {
      gaps.get(i).release();
    }
    int length = objects / 2 * Block.GRANULE_BYTES;
    StoredBytes scattered = ArenaTest.store(arena, length);
    assertThat(scattered.blockCount()).isGreaterThan(2 * 1024);
    byte[] received = exchange(context -> scattered.forEachSlice(0, length, context::write));
    assertThat(received).isEqualTo(ArenaTest.pattern(length));
    assertThat(scattered.leases()).isEqualTo(1);
    scattered.release();
    rest.release();
    for (int i = 1; i < objects; i += 2) {
      gaps.get(i).release();
    }
  }

  @Test
  void aLargeObjectArrivesOverPartialWrites() throws IOException {
    int length = 20_000_000;
    StoredBytes stored = ArenaTest.store(arena, length);
    byte[] received = exchange(context -> stored.forEachSlice(0, length, context::write));
    assertThat(received).isEqualTo(ArenaTest.pattern(length));
    assertThat(stored.leases()).isEqualTo(1);
    stored.release();
  }

  @Test
  void derivedSlicesArriveLikeTheirOctets() throws IOException {
    StoredBytes stored = ArenaTest.store(arena, 5000);
    byte[] received =
        exchange(
            context ->
                stored.forEachSlice(
                    0,
                    5000,
                    slice -> {
                      context.write(slice.retainedSlice(0, 1000));
                      context.write(slice.retainedDuplicate().setIndex(1000, 2000));
                      context.write(slice.copy(2000, 1000));
                      context.write(
                          Unpooled.wrappedBuffer(
                              slice.retainedSlice(3000, 500), slice.retainedSlice(3500, 500)));
                      context.write(slice.readerIndex(4000));
                    }));
    assertThat(received).isEqualTo(ArenaTest.pattern(5000));
    assertThat(stored.leases()).isEqualTo(1);
    stored.release();
  }

  @Test
  void contentEvictedWhileItIsSentStaysWholeUntilTheSocketHasIt() throws IOException {
    int length = 20_000_000;
    StoredBytes stored = ArenaTest.store(arena, length);
    byte[] received =
        exchange(
            context -> {
              stored.forEachSlice(0, length, context::write);
              stored.release();
              assertThat(TestMemory.store(arena, Unpooled.wrappedBuffer(new byte[length]), 0))
                  .isNull();
            });
    assertThat(received).isEqualTo(ArenaTest.pattern(length));
    assertThat(arena.usedBytes()).isZero();
  }

  @Test
  void aClientThatGoesAwayLeavesNoLease() throws IOException {
    int length = 20_000_000;
    StoredBytes stored = ArenaTest.store(arena, length);
    var closed = new CompletableFuture<Void>();
    Channel server =
        serve(
            context -> {
              context.channel().closeFuture().addListener(_ -> closed.complete(null));
              stored.forEachSlice(0, length, context::write);
            });
    try (Socket client = connect(server)) {
      assertThat(client.getInputStream().read()).isEqualTo(ArenaTest.pattern(length)[0] & 0xff);
      client.setSoLinger(true, 0);
    }
    closed.join();
    server.close().syncUninterruptibly();
    assertThat(stored.leases()).isEqualTo(1);
    stored.release();
  }

  private byte[] exchange(Consumer<ChannelHandlerContext> writes) throws IOException {
    Channel server = serve(writes);
    try (Socket client = connect(server)) {
      return client.getInputStream().readAllBytes();
    } finally {
      server.close().syncUninterruptibly();
    }
  }

  /** Runs {@code writes} for every connection, flushes once and closes when all is sent. */
  private Channel serve(Consumer<ChannelHandlerContext> writes) {
    return new ServerBootstrap()
        .group(loops)
        .channel(EpollServerSocketChannel.class)
        .childHandler(
            new ChannelInboundHandlerAdapter() {
              @Override
              public boolean isSharable() {
                return true;
              }

              @Override
              public void channelActive(ChannelHandlerContext context) {
                writes.accept(context);
                context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> context.close());
              }
            })
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        .syncUninterruptibly()
        .channel();
  }

  private static Socket connect(Channel server) throws IOException {
    var address = (InetSocketAddress) Objects.requireNonNull(server.localAddress());
    return new Socket(address.getAddress(), address.getPort());
  }

  private static byte[] joined(byte[] first, byte[] second) {
    ByteBuf both = Unpooled.wrappedBuffer(first, second);
    byte[] joined = new byte[both.readableBytes()];
    both.readBytes(joined).release();
    return joined;
  }
}
