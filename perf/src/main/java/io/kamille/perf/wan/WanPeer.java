package io.kamille.perf.wan;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * What the check of the emulator runs inside the namespaces: both ends of a ping by UDP, and of
 * bulk transfers by TCP.
 */
final class WanPeer {

  private static final int PORT = 7777;
  private static final int PING_BYTES = 64;
  private static final int BLOCK_BYTES = 1 << 16;
  private static final int CONNECT_SECONDS = 30;
  private static final int SECOND_MILLIS = 1000;
  private static final String READY = "ready";

  private WanPeer() {}

  /**
   * {@code echo}, {@code pour}, {@code ping LINK COUNT MICROS} or {@code drink LINKS CONNECTIONS
   * SECONDS}.
   */
  public static void main(String[] words) throws IOException, InterruptedException {
    switch (words[0]) {
      case "echo" -> echo();
      case "pour" -> pour();
      case "ping" ->
          ping(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      case "drink" ->
          drink(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  private static InetSocketAddress server() {
    return new InetSocketAddress(Namespaces.SERVER_ADDRESS, PORT);
  }

  private static void echo() throws IOException {
    try (var socket = new DatagramSocket(server())) {
      var packet = new DatagramPacket(new byte[PING_BYTES], PING_BYTES);
      System.out.println(READY);
      while (true) {
        socket.receive(packet);
        socket.send(packet);
      }
    }
  }

  /** Prints round-trip times in nanoseconds, one a line; packets that do not come back print -1. */
  private static void ping(int link, int count, int micros) throws IOException {
    long[] times = new long[count];
    Arrays.fill(times, -1);
    var from = new InetSocketAddress(Namespaces.address(link, 1), 0);
    try (var socket = new DatagramSocket(from)) {
      socket.setSoTimeout(SECOND_MILLIS);
      Thread receiver = Thread.ofPlatform().start(() -> receive(socket, times));
      var packet = new DatagramPacket(new byte[PING_BYTES], PING_BYTES, server());
      for (int i = 0; i < count; i++) {
        ByteBuffer.wrap(packet.getData()).putInt(i).putLong(System.nanoTime());
        socket.send(packet);
        // Not in step with the emulator's own rhythm.
        LockSupport.parkNanos(micros * (1000L + i * 7919L % 1000));
      }
      receiver.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Arrays.stream(times).forEach(System.out::println);
  }

  private static void receive(DatagramSocket socket, long[] times) {
    var packet = new DatagramPacket(new byte[PING_BYTES], PING_BYTES);
    try {
      while (true) {
        socket.receive(packet);
        long now = System.nanoTime();
        ByteBuffer data = ByteBuffer.wrap(packet.getData());
        times[data.getInt()] = now - data.getLong();
      }
    } catch (IOException quiet) {
      return;
    }
  }

  private static void pour() throws IOException {
    byte[] block = new byte[BLOCK_BYTES];
    try (var listener = new ServerSocket()) {
      listener.bind(server(), 4096);
      System.out.println(READY);
      while (true) {
        Socket socket = listener.accept();
        Thread.ofVirtual().start(() -> pour(socket, block));
      }
    }
  }

  private static void pour(Socket socket, byte[] block) {
    try (socket) {
      while (true) {
        socket.getOutputStream().write(block);
      }
    } catch (IOException over) {
      return;
    }
  }

  /** Prints how many octets came on all connections together, after a second of beginning. */
  private static void drink(int links, int connections, int seconds)
      throws IOException, InterruptedException {
    var received = new AtomicLong();
    var ready = new CountDownLatch(connections);
    for (int i = 0; i < connections; i++) {
      String from = Namespaces.address(1 + i % links, 1 + i / links % 250);
      Thread.ofVirtual().start(() -> drink(from, ready, received));
    }
    if (!ready.await(CONNECT_SECONDS, TimeUnit.SECONDS)) {
      throw new IOException(ready.getCount() + " connections did not open");
    }
    TimeUnit.SECONDS.sleep(1);
    long before = received.get();
    long began = System.nanoTime();
    TimeUnit.SECONDS.sleep(seconds);
    long nanos = System.nanoTime() - began;
    System.out.println((received.get() - before) + " " + nanos);
  }

  private static void drink(String from, CountDownLatch ready, AtomicLong received) {
    byte[] block = new byte[BLOCK_BYTES];
    try (var socket = new Socket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
      socket.connect(server());
      ready.countDown();
      for (int read = 0; read >= 0; read = socket.getInputStream().read(block)) {
        received.addAndGet(read);
      }
    } catch (IOException over) {
      return;
    }
  }
}
