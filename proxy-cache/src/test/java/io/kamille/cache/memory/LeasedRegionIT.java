package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FileRegion;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions through a real epoll socket: octets, leases, and pages that are not written to again. */
class LeasedRegionIT {

  private static final int PAGE = 4096;
  private static final int SLAB = Slab.BYTES;
  private static final int MIB = 1 << 20;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final Arena arena = Arena.openSendable(32 * MIB);
  private final AtomicInteger regions = new AtomicInteger();

  @AfterEach
  void everyLeaseHasEnded() {
    loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 127, 128, 129, 1000, 4095, 4096, 4097})
  void everySizeArrivesWhateverItsBordersAre(int around) throws IOException {
    StoredBytes shift = ArenaTest.store(arena, around);
    for (int base : List.of(0, Arena.REGION_MINIMUM_BYTES, SLAB, 3 * SLAB, MIB)) {
      for (int length : List.of(base + around, Math.max(0, base - around))) {
        StoredBytes stored = ArenaTest.store(arena, length);
        assertThat(exchange(sending(stored, 0, length))).isEqualTo(ArenaTest.pattern(length));
        assertThat(stored.leases()).isEqualTo(1);
        stored.release();
      }
    }
    assertThat(regions.get()).isPositive();
    shift.release();
  }

  @Test
  void everyPartArrives() throws IOException {
    int length = MIB + 777;
    StoredBytes stored = ArenaTest.store(arena, length);
    byte[] whole = ArenaTest.pattern(length);
    for (int from : List.of(0, 1, PAGE - 1, PAGE, PAGE + 1, SLAB - 1, SLAB, 500_000)) {
      for (int to : List.of(length, length - 1, MIB, MIB - 1, 600_000, 16 * PAGE + from)) {
        byte[] received = exchange(sending(stored, from, to - from));
        assertThat(received).isEqualTo(Arrays.copyOfRange(whole, from, to));
      }
    }
    stored.release();
  }

  @Test
  void scatteredContentArrives() throws IOException {
    List<StoredBytes> gaps = new ArrayList<>();
    while (arena.freeBytes() > 0) {
      gaps.add(ArenaTest.store(arena, (int) Math.min(SLAB, arena.freeBytes())));
      gaps.add(ArenaTest.store(arena, (int) Math.min(SLAB, arena.freeBytes())));
    }
    for (int i = 0; i < gaps.size(); i += 2) {
      gaps.get(i).release();
    }
    int length = 6 * MIB;
    StoredBytes scattered = ArenaTest.store(arena, length);
    assertThat(scattered.blockCount()).isGreaterThan(80);
    assertThat(exchange(sending(scattered, 0, length))).isEqualTo(ArenaTest.pattern(length));
    assertThat(regions.get()).isGreaterThan(80);
    scattered.release();
    for (int i = 1; i < gaps.size(); i += 2) {
      gaps.get(i).release();
    }
  }

  @Test
  void aClientThatGoesAwayLeavesNoLease() throws IOException {
    int length = 20 * MIB;
    StoredBytes stored = ArenaTest.store(arena, length);
    var closed = new CompletableFuture<Void>();
    Channel server =
        serve(
            context -> {
              context.channel().closeFuture().addListener(_ -> closed.complete(null));
              sending(stored, 0, length).accept(context);
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

  /*
   * Everything is with the kernel and the lease has ended, but nobody has read yet. What is stored
   * in the same place now must not change a single octet of it.
   */
  @Test
  void pagesThatASocketStillHoldsAreNotWrittenTo() throws IOException {
    int length = 256 << 10;
    StoredBytes stored = ArenaTest.store(arena, length);
    long place = stored.block(0);
    var sent = new CompletableFuture<Void>();
    Channel server =
        serve(
            context -> {
              context.channel().config().setOption(ChannelOption.SO_SNDBUF, MIB);
              sending(stored, 0, length).accept(context);
              context.write(Unpooled.EMPTY_BUFFER).addListener(_ -> sent.complete(null));
            });
    try (Socket client = connect(server)) {
      sent.orTimeout(60, TimeUnit.SECONDS).join();
      assertThat(stored.leases()).isEqualTo(1);
      stored.release();
      TestMemory.awaitFree(arena);
      byte[] others = new byte[length];
      Arrays.fill(others, (byte) 'x');
      StoredBytes next =
          Objects.requireNonNull(TestMemory.store(arena, Unpooled.wrappedBuffer(others), 0));
      assertThat(next.block(0)).isEqualTo(place);
      byte[] received = client.getInputStream().readNBytes(length);
      assertThat(received).isEqualTo(ArenaTest.pattern(length));
      next.release();
    } finally {
      server.close().syncUninterruptibly();
    }
    assertThat(regions.get()).isEqualTo(1);
  }

  /*
   * Two hundred readers of five objects, one after another in the same place. A quarter of them goes
   * away and comes back for the next object; the others read on when the last one is stored.
   */
  @Test
  void readersThatStallLeaveAndComeBackGetTheOctetsTheyAskedFor() throws Exception {
    int length = 4 * SLAB;
    long place = Block.NONE;
    Map<Socket, Byte> stalled = new LinkedHashMap<>();
    for (byte generation = 1; generation <= 5; generation++) {
      byte[] octets = new byte[length];
      Arrays.fill(octets, generation);
      StoredBytes stored =
          Objects.requireNonNull(TestMemory.store(arena, Unpooled.wrappedBuffer(octets), 0));
      assertThat(stored.block(0)).isEqualTo(place == Block.NONE ? stored.block(0) : place);
      place = stored.block(0);
      var sent = new CountDownLatch(40);
      Channel server =
          serve(
              context -> {
                context.channel().config().setOption(ChannelOption.SO_SNDBUF, MIB);
                sending(stored, 0, length).accept(context);
                context.write(Unpooled.EMPTY_BUFFER).addListener(_ -> sent.countDown());
              });
      for (int reader = 0; reader < 40; reader++) {
        Socket client = connect(server);
        assertThat(client.getInputStream().read()).isEqualTo(generation);
        if (reader % 4 == 0) {
          client.setSoLinger(true, 0);
          client.close();
        } else {
          stalled.put(client, generation);
        }
      }
      assertThat(sent.await(60, TimeUnit.SECONDS)).isTrue();
      stored.release();
      TestMemory.awaitFree(arena);
      server.close().syncUninterruptibly();
    }
    for (Map.Entry<Socket, Byte> reader : stalled.entrySet()) {
      byte[] expected = new byte[length - 1];
      Arrays.fill(expected, reader.getValue());
      try (Socket client = reader.getKey()) {
        assertThat(client.getInputStream().readAllBytes()).isEqualTo(expected);
      }
    }
    assertThat(regions.get()).isEqualTo(200);
  }

  private Consumer<ChannelHandlerContext> sending(StoredBytes stored, long offset, long length) {
    return context ->
        stored.send(
            offset,
            length,
            piece -> {
              if (piece instanceof FileRegion) {
                regions.incrementAndGet();
              }
              context.write(piece);
            });
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
}
