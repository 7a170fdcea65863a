package io.kamille.core.client.h2;

import io.kamille.core.gate.ClientTally;
import io.kamille.core.h2.H2Connection;
import io.kamille.core.http.RequestHead;
import java.net.InetSocketAddress;

/** The client whose requests come by streams, and its connection. Confined to its loop. */
interface StreamClient {

  InetSocketAddress client();

  /** The address of ours that the client connected to. */
  InetSocketAddress local();

  /** What the client has open. */
  ClientTally tally();

  H2Shard shard();

  H2Connection h2();

  StreamHeads heads();

  /** Whether the request belongs on a connection under another certificate (RFC 9113 §9.1.2). */
  boolean isMisdirected(RequestHead request);

  /** Sends what became ready outside a burst of reads. */
  void sendReady();
}
