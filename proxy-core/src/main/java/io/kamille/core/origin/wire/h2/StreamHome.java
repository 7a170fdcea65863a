package io.kamille.core.origin.wire.h2;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.origin.wire.OriginProgress;
import io.netty.handler.codec.http2.Http2Error;

/** The connection below, as a stream sees it. Confined to its loop. */
interface StreamHome {

  H2Lines lines();

  /** The header section of a request in the scratch of the loop. */
  HpackWriter section(Exchange exchange, boolean expects);

  /** Sends what may be sent. */
  void sendReady();

  /** Lends a stream so many octets of window, or as many as are left for all. */
  int lendWindow(int bytes);

  void returnWindow(int bytes);

  /** The origin did this. */
  Failure failure(Kind kind, String what);

  /** A stream ended before its time, by this code or with the whole connection. */
  Failure ended(Kind kind, Http2Error code, String where);

  /** Whether the failure of a stream tells of the origin, and no other one has told the same. */
  boolean isCounted(OriginProgress progress);
}
