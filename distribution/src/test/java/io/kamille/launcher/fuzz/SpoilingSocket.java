package io.kamille.launcher.fuzz;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;

/** A connection that spoils what goes out at one place, once. Confined to its thread. */
final class SpoilingSocket extends Socket {

  private static final int TIMEOUT_MILLIS = 20_000;

  /** What is done to an octet. */
  enum Spoil {
    CHANGE,
    DROP,
    DOUBLE,
    /** Nothing goes out from there on; the connection is half-closed. */
    CUT,
    /** Octets of no protocol go out from there on, at the place of all others. */
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
        byte[] all = Arrays.copyOfRange(octets, offset, offset + length);
        long at = place - sent;
        sent += length;
        if (at >= length) {
          out.write(all);
        } else if (at >= 0) {
          out.write(all, 0, (int) at);
          spoil(Arrays.copyOfRange(all, (int) at, length));
        } else {
          behind(all);
        }
        out.flush();
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
          case CUT -> shutdownOutput();
          case NOISE -> behind(rest);
        }
      }

      private void behind(byte[] octets) throws IOException {
        if (spoil == Spoil.NOISE) {
          Arrays.fill(octets, value);
        }
        if (spoil != Spoil.CUT) {
          out.write(octets);
        }
      }
    };
  }
}
