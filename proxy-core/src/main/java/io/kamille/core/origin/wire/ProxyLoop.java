package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.Seldom;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Requests that come back through the origin that got them, again and again. Any thread. */
public final class ProxyLoop {

  /*
   * Each Kamille adds a member to Via (RFC 9110 §7.6.3). Some in a row are no loop: nodes ask nodes,
   * and one may stand before another.
   */
  private static final int MOST_PASSAGES = 8;

  private static final byte[] MEMBER =
      (" " + Failure.PSEUDONYM).getBytes(StandardCharsets.US_ASCII);
  private static final System.Logger LOG = System.getLogger("kamille.upstream");
  private static final Seldom TOLD = new Seldom(TimeUnit.SECONDS.toNanos(10));

  private static final Failure LOOP =
      Failure.request(
          StatusCode.LOOP_DETECTED,
          "a loop: it has come through Kamille " + MOST_PASSAGES + " times, by its Via");

  private ProxyLoop() {}

  /** Whether Via says that the request goes round and round. */
  public static boolean isSeen(RequestHead request) {
    Fields fields = request.fields();
    int passages = 0;
    for (int i = fields.indexOf(FieldName.VIA); i >= 0; i = fields.indexOf(FieldName.VIA, i + 1)) {
      passages += passages(fields.octets(), fields.valueStart(i), fields.valueEnd(i));
    }
    return passages >= MOST_PASSAGES;
  }

  private static int passages(byte[] octets, int start, int end) {
    int count = 0;
    for (int at = start; at + MEMBER.length <= end; at++) {
      int same = 0;
      while (same < MEMBER.length && octets[at + same] == MEMBER[same]) {
        same++;
      }
      count += same == MEMBER.length ? 1 : 0;
    }
    return count;
  }

  /** Answers that, and tells the log, one line in ten seconds at most. */
  public static void answer(Exchange exchange) {
    if (TOLD.isDue(System.nanoTime())) {
      String host = exchange.request().authority();
      LOG.log(Level.WARNING, "requests for {0} go in a loop: an origin leads back here", host);
    }
    exchange.reply().fail(LOOP);
  }
}
