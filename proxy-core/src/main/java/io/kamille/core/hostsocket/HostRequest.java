package io.kamille.core.hostsocket;

import io.kamille.core.setting.HostPort;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a sandbox asks of its host, as one message each. */
sealed interface HostRequest {

  /*
   *   connect ADDRESS:PORT MILLISECONDS      an IP literal
   *   listen HOST:PORT BACKLOG SOCKETS       as in the configuration
   *   find NAME
   *
   * with a number in front that its answer repeats:
   *
   *   NUMBER given                           and descriptors
   *   NUMBER found ADDRESS…
   *   NUMBER failed KIND REASON
   */

  /** The longest message in either direction, in octets. */
  int MOST_BYTES = 4096;

  /** As many are under way at a time; others wait in the sandbox. The helper refuses them. */
  int MOST_AT_A_TIME = 64;

  int MOST_MILLIS = 60_000;
  int MOST_SOCKETS = 64;

  /** As many of one name fit into a message. */
  int MOST_ADDRESSES = 64;

  Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

  String GIVEN = "given";
  String FOUND = "found";
  String FAILED = "failed";

  /** Why a request failed. */
  enum Trouble {
    /** The helper may not do this. */
    DENIED,
    /** Nobody listens there. */
    REFUSED,
    /** No answer in time. */
    LATE,
    /** The helper has no more sockets. */
    LIMIT,
    OTHER
  }

  /** To be connected with an origin. */
  record Connect(InetSocketAddress address, int millis) implements HostRequest {
    @Override
    public String words() {
      return "connect " + text(address) + " " + millis;
    }
  }

  /** Listening sockets. */
  record Listen(HostPort address, int backlog, int sockets) implements HostRequest {
    @Override
    public String words() {
      return "listen " + address + " " + backlog + " " + sockets;
    }
  }

  /** The addresses of a name. */
  record Find(String name) implements HostRequest {
    @Override
    public String words() {
      return "find " + name;
    }
  }

  /** The form that {@link #parse} reads back. */
  String words();

  /** Such an address as requests write it. */
  static String text(InetSocketAddress address) {
    return HostPort.text(address);
  }

  /** What these words ask for, or null if it is nothing that we know. */
  static @Nullable HostRequest parse(String words) {
    String[] parts = words.split(" ", -1);
    return switch (parts[0] + parts.length) {
      case "connect3" -> connect(HostPort.parse(parts[1]), number(parts[2], MOST_MILLIS));
      case "listen4" -> {
        HostPort address = HostPort.parse(parts[1]);
        int backlog = number(parts[2], Character.MAX_VALUE);
        int sockets = number(parts[3], MOST_SOCKETS);
        yield address == null || backlog < 1 || sockets < 1
            ? null
            : new Listen(address, backlog, sockets);
      }
      case "find2" -> {
        String name = HostPort.hostOf(parts[1]);
        yield name == null || name.isEmpty() ? null : new Find(name);
      }
      default -> null;
    };
  }

  private static @Nullable HostRequest connect(@Nullable HostPort address, int millis) {
    InetAddress literal =
        address == null ? null : NetUtil.createInetAddressFromIpAddressString(address.host());
    return address == null || literal == null || address.port() == 0 || millis < 1
        ? null
        : new Connect(new InetSocketAddress(literal, address.port()), millis);
  }

  private static int number(String text, int greatest) {
    int number = DIGITS.matcher(text).matches() ? Integer.parseInt(text) : -1;
    return number > greatest ? -1 : number;
  }
}
