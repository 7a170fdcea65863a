package io.kamille.core.client;

import io.kamille.core.gate.Overload;
import io.kamille.core.gate.Shedder;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.SectionWriter;
import io.kamille.core.http.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/**
 * What the heads of answers say, whatever the version of HTTP that they are written in. One for
 * each loop and listener. Confined to its loop.
 */
public final class ReplyHeads {

  /** The length of content is not said. */
  public static final long UNSAID = -1;

  private final LongSupplier epochSeconds;
  private final HttpsPolicy policy;
  private final byte[][] shedLines = new byte[Shedder.MOST_RETRY_AFTER_SECONDS][];

  /**
   * Heads of a proxy.
   *
   * @param epochSeconds wall clock for the {@code Date} of answers that lack one
   * @param policy of the listener: its HSTS stands before one of the origin, which then counts for
   *     nothing (RFC 6797 §8.1)
   */
  public ReplyHeads(LongSupplier epochSeconds, HttpsPolicy policy) {
    this.epochSeconds = epochSeconds;
    this.policy = policy;
    for (int i = 0; i < shedLines.length; i++) {
      shedLines[i] = shedLines(i + 1);
    }
  }

  private static byte[] shedLines(int retryAfterSeconds) {
    String lines =
        "Content-Length: 0\r\nCache-Control: no-store\r\nRetry-After: "
            + retryAfterSeconds
            + "\r\nProxy-Status: "
            + Overload.SHED.proxyStatus()
            + "\r\n";
    return lines.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** An interim response. Borrows its head. */
  public void interim(SectionWriter out, ResponseHead head) {
    out.status(head.status());
    lines(out, head.fields());
  }

  /**
   * A final response. Borrows its head.
   *
   * @param contentBytes what it says of its length, or {@link #UNSAID}
   */
  public void answer(SectionWriter out, ResponseHead head, long contentBytes) {
    out.status(head.status());
    hsts(out);
    lines(out, head.fields());
    if (!head.has(FieldName.DATE) && head.status() != StatusCode.SWITCHING_PROTOCOLS) {
      out.line(FieldName.DATE, HttpDate.format(epochSeconds.getAsLong()));
    }
    if (contentBytes >= 0) {
      out.line(FieldName.CONTENT_LENGTH, contentBytes);
    }
  }

  /** Our part of the head of a stored response, before its other lines. */
  public void stored(SectionWriter out, int status, byte[] ownLines, int ownLength) {
    out.status(status);
    hsts(out);
    out.lines(ownLines, 0, ownLength);
  }

  /** The answer to a request that is shed: octets made beforehand, for this must cost little. */
  public void shed(SectionWriter out, int retryAfterSeconds) {
    out.status(Overload.SHED.status());
    hsts(out);
    byte[] lines = shedLines[retryAfterSeconds - 1];
    out.lines(lines, 0, lines.length);
  }

  private void hsts(SectionWriter out) {
    out.lines(policy.hsts(), 0, policy.hsts().length);
  }

  /** Framing is the connection's to write. */
  private void lines(SectionWriter out, Fields fields) {
    for (int i = 0; i < fields.size(); i++) {
      FieldName name = fields.knownAt(i);
      if (name != FieldName.CONTENT_LENGTH
          && name != FieldName.TRANSFER_ENCODING
          && !(name == FieldName.STRICT_TRANSPORT_SECURITY && policy.hasHsts())) {
        out.line(fields, i);
      }
    }
  }
}
