package io.kamille.perf.load;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A name server for which each name is 127.0.0.1 for a second, and which can fall silent. Any
 * thread.
 */
final class NameServer implements AutoCloseable {

  /** Of name servers. */
  static final int PORT = 53;

  private static final int HEAD_LENGTH = 12;
  private static final short ANSWER = (short) 0x8180;
  private static final short NAME_OF_THE_QUESTION = (short) 0xc00c;
  private static final short TYPE_A = 1;
  private static final short CLASS_IN = 1;
  private static final int MOST_BYTES = 512;

  private final DatagramSocket socket;
  // Volatile: set by who plays the faults, read by the thread of the server.
  private volatile boolean isSilent;

  private NameServer(DatagramSocket socket) {
    this.socket = socket;
  }

  /** Answers from now on. */
  static NameServer open(String address, int port) throws IOException {
    var server = new NameServer(new DatagramSocket(port, InetAddress.getByName(address)));
    Thread.ofPlatform().daemon().name("names").start(server::serve);
    return server;
  }

  int port() {
    return socket.getLocalPort();
  }

  /** Whether it answers nothing from now on. */
  void silent(boolean isSilent) {
    this.isSilent = isSilent;
  }

  private void serve() {
    try {
      while (true) {
        var packet = new DatagramPacket(new byte[MOST_BYTES], MOST_BYTES);
        socket.receive(packet);
        if (!isSilent) {
          byte[] answer = answer(Arrays.copyOf(packet.getData(), packet.getLength()));
          socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
        }
      }
    } catch (IOException closed) {
      // The run is over.
    }
  }

  /** The answer to a query of one question (RFC 1035 §4): an address, or none of that type. */
  private static byte[] answer(byte[] query) {
    int end = HEAD_LENGTH;
    while (query[end] != 0) {
      end += query[end] + 1;
    }
    boolean isAddress = query[end + 2] == TYPE_A;
    end += 5;
    ByteBuffer answer = ByteBuffer.allocate(MOST_BYTES);
    answer.put(query, 0, 2).putShort(ANSWER);
    answer.putShort((short) 1).putShort((short) (isAddress ? 1 : 0)).putInt(0);
    answer.put(query, HEAD_LENGTH, end - HEAD_LENGTH);
    if (isAddress) {
      answer.putShort(NAME_OF_THE_QUESTION).putShort(TYPE_A).putShort(CLASS_IN).putInt(1);
      answer.putShort((short) 4).put((byte) 127).put((byte) 0).put((byte) 0).put((byte) 1);
    }
    return Arrays.copyOf(answer.array(), answer.position());
  }

  @Override
  public void close() {
    socket.close();
  }
}
