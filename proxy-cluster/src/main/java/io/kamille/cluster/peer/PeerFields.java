package io.kamille.cluster.peer;

import io.kamille.cache.serve.StoredReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.Fields;
import io.kamille.core.http.NamedClient;
import io.kamille.core.http.Octets;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What nodes tell one another beside a request and its response.
 *
 * <pre>
 * Kamille-Applied: 4711              the last purge that its sender has applied
 * Kamille-Client: http 192.0.2.1 80  scheme, address and port of the client
 * Kamille-Proxy: 10.0.0.1 80         the trusted proxy that names the client
 * Kamille-Stale: 1                   the response is stale where it is stored
 * </pre>
 *
 * @param applied by the node that asks
 * @param client whom it asks for
 * @param proxy who names the client; null if the client itself has sent the request
 */
record PeerFields(
    long applied, boolean isSecure, InetSocketAddress client, @Nullable InetSocketAddress proxy) {

  static final String APPLIED = "Kamille-Applied";
  static final String CLIENT = "Kamille-Client";
  static final String PROXY = "Kamille-Proxy";
  static final long UNKNOWN = -1;

  /** The status code of an interim response of a node that waits for its origin. */
  static final int ALIVE = 102;

  private static final Pattern ADDRESS =
      Pattern.compile("(?:(https?) )?([0-9a-fA-F:.]{2,45}) ([0-9]{1,5})");
  private static final int GREATEST_PORT = 65_535;

  /** What a request says; null if it does not, or says something else. */
  static @Nullable PeerFields of(Fields request) {
    long applied = applied(request);
    Matcher text = ADDRESS.matcher(only(request, CLIENT));
    InetSocketAddress client = address(text);
    return applied == UNKNOWN || client == null || text.group(1) == null
        ? null
        : new PeerFields(
            applied,
            text.group(1).equals("https"),
            client,
            address(ADDRESS.matcher(only(request, PROXY))));
  }

  private static String only(Fields request, String name) {
    List<String> values = request.all(name);
    return values.size() == 1 ? values.getFirst() : "";
  }

  private static @Nullable InetSocketAddress address(Matcher text) {
    if (!text.matches()) {
      return null;
    }
    InetAddress address = NetUtil.createInetAddressFromIpAddressString(text.group(2));
    int port = Integer.parseInt(text.group(3));
    return address == null || port > GREATEST_PORT ? null : new InetSocketAddress(address, port);
  }

  /** The number that a message says first: a response may have another, from its origin. */
  static long applied(Fields message) {
    for (int i = 0; i < message.size(); i++) {
      if (message.nameIs(i, APPLIED)) {
        return Octets.decimal(message.octets(), message.valueStart(i), message.valueEnd(i));
      }
    }
    return UNKNOWN;
  }

  /** Has a request say these and no others. */
  static void tell(Fields request, long applied, Exchange exchange) {
    remove(request);
    String scheme = exchange.request().isSecure() ? "https " : "http ";
    request.add(APPLIED, Long.toString(applied));
    request.add(CLIENT, scheme + text(exchange.client()));
    NamedClient named = exchange.request().named();
    if (named != null) {
      request.add(PROXY, text(named.proxy()));
    }
  }

  private static String text(InetSocketAddress address) {
    return NetUtil.toAddressString(address.getAddress()) + ' ' + address.getPort();
  }

  static void remove(Fields message) {
    message.remove(APPLIED);
    message.remove(CLIENT);
    message.remove(PROXY);
    message.remove(StoredReply.STALE);
  }
}
