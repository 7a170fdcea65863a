package io.kamille.core.socket;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps a socket to its purpose once it is in other hands: a filter of the packets that it may
 * receive, which nobody can remove.
 */
public final class PacketFilter {

  /*
   * Who has a TCP socket can disconnect it (connect with AF_UNSPEC), and connect or bind it anew,
   * in the network where it was made. Neither leads anywhere if no answer comes in: a socket to an
   * origin receives packets of that origin alone; one that listens, and what it accepts, packets to
   * its port alone, and no SYN-ACK. A filter that is locked stays (SO_LOCK_FILTER, socket(7)).
   *
   * A program of struct sock_filter: code 2 | jump if true 1 | if false 1 | operand 4. Each check
   * loads something and drops the packet if it differs. A packet begins with its TCP header; NET is
   * the offset of its IP header.
   */
  private static final int SOL_SOCKET = 1;
  private static final int SO_ATTACH_FILTER = 26;
  private static final int SO_LOCK_FILTER = 44;

  private static final int LOAD_WORD = 0x20;
  private static final int LOAD_HALF = 0x28;
  private static final int LOAD_OCTET = 0x30;
  private static final int AND = 0x54;
  private static final int IF_EQUAL = 0x15;
  private static final int RETURN = 0x06;
  private static final int NET = -0x100000;
  private static final int ALL = -1;

  private static final int SOURCE_PORT = 0;
  private static final int DESTINATION_PORT = 2;
  private static final int FLAGS = 13;
  private static final int SYN_ACK = 0x12;
  private static final int VERSION_MASK = 0xf0;
  private static final int V4_SOURCE = 12;
  private static final int V6_SOURCE = 8;
  private static final int INSTRUCTION_BYTES = 8;
  private static final int PROGRAM_BYTES = 16;

  private record Instruction(int code, boolean dropsIfTrue, boolean dropsIfFalse, int operand) {}

  private final List<Instruction> program = new ArrayList<>();

  private PacketFilter() {}

  /**
   * Lets in packets of that address alone.
   *
   * @throws IOException if the kernel refuses the filter
   */
  public static void onlyFrom(InetSocketAddress origin, int descriptor) throws IOException {
    byte[] address = origin.getAddress().getAddress();
    boolean isV4 = address.length == 4;
    PacketFilter filter = new PacketFilter();
    filter.check(LOAD_HALF, SOURCE_PORT, ALL, origin.getPort());
    filter.check(LOAD_OCTET, NET, VERSION_MASK, isV4 ? 0x40 : 0x60);
    for (int i = 0; i < address.length; i += Integer.BYTES) {
      int word =
          (address[i] & 0xff) << 24
              | (address[i + 1] & 0xff) << 16
              | (address[i + 2] & 0xff) << 8
              | (address[i + 3] & 0xff);
      filter.check(LOAD_WORD, NET + (isV4 ? V4_SOURCE : V6_SOURCE) + i, ALL, word);
    }
    filter.lock(descriptor);
  }

  /**
   * Lets in packets to that port alone, and no answer to an attempt to connect.
   *
   * @throws IOException if the kernel refuses the filter
   */
  public static void onlyTo(int port, int descriptor) throws IOException {
    PacketFilter filter = new PacketFilter();
    filter.check(LOAD_HALF, DESTINATION_PORT, ALL, port);
    filter.add(LOAD_OCTET, false, false, FLAGS);
    filter.add(AND, false, false, SYN_ACK);
    filter.add(IF_EQUAL, true, false, SYN_ACK);
    filter.lock(descriptor);
  }

  private void check(int load, int offset, int mask, int expected) {
    add(load, false, false, offset);
    if (mask != ALL) {
      add(AND, false, false, mask);
    }
    add(IF_EQUAL, false, true, expected);
  }

  private void add(int code, boolean dropsIfTrue, boolean dropsIfFalse, int operand) {
    program.add(new Instruction(code, dropsIfTrue, dropsIfFalse, operand));
  }

  private void lock(int descriptor) throws IOException {
    add(RETURN, false, false, ALL);
    int drop = program.size();
    add(RETURN, false, false, 0);
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment code = scope.allocate((long) program.size() * INSTRUCTION_BYTES, Integer.BYTES);
      for (int i = 0; i < program.size(); i++) {
        Instruction instruction = program.get(i);
        long at = (long) i * INSTRUCTION_BYTES;
        byte toDrop = (byte) (drop - i - 1);
        code.set(ValueLayout.JAVA_SHORT, at, (short) instruction.code);
        code.set(ValueLayout.JAVA_BYTE, at + 2, instruction.dropsIfTrue ? toDrop : 0);
        code.set(ValueLayout.JAVA_BYTE, at + 3, instruction.dropsIfFalse ? toDrop : 0);
        code.set(ValueLayout.JAVA_INT, at + 4, instruction.operand);
      }
      MemorySegment whole = scope.allocate(PROGRAM_BYTES, Long.BYTES);
      whole.set(ValueLayout.JAVA_SHORT, 0, (short) program.size());
      whole.set(ValueLayout.ADDRESS, Long.BYTES, code);
      set(descriptor, SO_ATTACH_FILTER, whole);
      set(descriptor, SO_LOCK_FILTER, scope.allocateFrom(ValueLayout.JAVA_INT, 1));
    }
  }

  private static void set(int descriptor, int option, MemorySegment value) throws IOException {
    long set =
        SystemCall.SETSOCKOPT.call(
            descriptor, SOL_SOCKET, option, value.address(), value.byteSize(), 0);
    if (set < 0) {
      throw new IOException("cannot filter the packets of a socket: " + SystemCall.reason(set));
    }
  }
}
