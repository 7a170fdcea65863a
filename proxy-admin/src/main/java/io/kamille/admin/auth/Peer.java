package io.kamille.admin.auth;

import io.netty.util.NetUtil;
import java.net.InetAddress;

/** Where a request comes from. Whoever makes the connection's pipeline says which. Immutable. */
public sealed interface Peer {

  /** The local socket, which only this user and root can reach. */
  record LocalSocket() implements Peer {
    @Override
    public String address() {
      return "local";
    }
  }

  /** A client of the listener. */
  record Network(InetAddress client) implements Peer {
    @Override
    public String address() {
      return NetUtil.toAddressString(client);
    }
  }

  /** As the audit log has it. */
  String address();
}
