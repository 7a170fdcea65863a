package io.kamille.launcher.fuzz;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;

/**
 * A connection that spoils what goes out at one place, and is half-closed behind the write that was
 * spoiled, so that nobody waits for octets that never come. Confined to its thread.
 */
final class SpoilingSocket extends Socket {

  private static final int TIMEOUT_MILLIS = 20_000;

  /** What is done to an octet. */
  enum Spoil {
    CHANGE,
    DROP,
    DOUBLE,
    /** Nothing goes out from there on. */
    CUT,
    /** Octets of no protocol go out in place of the rest. */
    NOISE
  }

  private final Spoil spoil;
  private final long place;
  private final byte value;
  private long sent;

  /** Connects; the octet at {@code place}, counted from 0, is spoiled. */
  SpoilingSocket(InetSocketAddress address, Spoil spoil, long place, byte value)
      throws IOException {
    this.spoil = spoil;
    this.place = place;
    this.value = value;
    setTcpNoDelay(true);
    setSoTimeout(TIMEOUT_MILLIS);
    connect(address, TIMEOUT_MILLIS);
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    return new FilterOutputStream(super.getOutputStream()) {
      @Override
      public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
      }

      @Override
      public void write(byte[] octets, int offset, int length) throws IOException {
        long at = place - sent;
        sent += length;
        if (at >= length) {
          out.write(octets, offset, length);
        } else if (at >= 0) {
          out.write(octets, offset, (int) at);
          spoil(Arrays.copyOfRange(octets, offset + (int) at, offset + length));
          out.flush();
          shutdownOutput();
        }
      }

      private void spoil(byte[] rest) throws IOException {
        switch (spoil) {
          case CHANGE -> {
            rest[0] ^= value == 0 ? 1 : value;
            out.write(rest);
          }
          case DROP -> out.write(rest, 1, rest.length - 1);
          case DOUBLE -> {
            out.write(rest[0]);
            out.write(rest);
          }
          case CUT -> {}
          case NOISE -> {
            Arrays.fill(rest, value);
            out.write(rest);
          }
        }
      }
    };
  }
}
