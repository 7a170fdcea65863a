package io.kamille.core.client.h1;

import io.kamille.core.client.ClientOutput;
import io.kamille.core.client.RequestAdmission;
import java.net.InetSocketAddress;

/** The connection that carries an exchange, as the exchange sees it. Confined to its loop. */
interface Carrier {

  InetSocketAddress client();

  /** The address of ours that the client connected to. */
  InetSocketAddress local();

  ClientOutput output();

  /** Whether nobody between us and the socket wants to see the octets. */
  boolean takesRegions();

  /** Whether this connection will end with the present exchange. */
  boolean mustClose();

  /** Whether the next request of the client may begin. */
  RequestAdmission admission();

  /** Something moved: the content time-out begins anew. */
  void progress();

  /** Hands over what came while nobody was there to take it. */
  void processWaiting();

  /** Whether the client may send more now. */
  void readMore(boolean wanted);

  /** Both sides talk another protocol from now on. */
  void becomeTunnel();

  /** Takes no request of this client for a while, once the present exchange is over. */
  void holdBack(long nanos);

  /** The exchange has come to its end, be it within its handler. */
  void exchangeEnded();
}
