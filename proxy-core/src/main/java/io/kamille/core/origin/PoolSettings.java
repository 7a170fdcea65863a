package io.kamille.core.origin;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.http.StreamType;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How many connections an origin gets from one loop.
 *
 * @param maxConnections open at a time, the idle ones among them
 * @param maxWaiting requests that may wait for one; more are refused at once
 * @param queueTimeout how long a request may wait for one
 * @param maxIdle kept open without a request
 * @param idleTimeout how long an idle one is kept
 * @param uploadBufferBytes memory for content that comes in before its request takes a connection;
 *     what is more goes to the file of {@code Spool}; 0 for none of both
 * @param responseBufferBytes how much of a response is taken from the origin though its client is
 *     slow; 0 for none
 */
public record PoolSettings(
    int maxConnections,
    int maxWaiting,
    Duration queueTimeout,
    int maxIdle,
    Duration idleTimeout,
    long uploadBufferBytes,
    long responseBufferBytes) {

  private static final Setting<Integer> MAX_CONNECTIONS =
      Setting.of(
              "max-connections",
              ValueTypes.wholeNumber(1, 65_535),
              "Requests that one loop sends one origin at a time. In HTTP/1.1 each takes a"
                  + " connection; in HTTP/2 up to 100 share one. Multiply by `loops` for the"
                  + " most that an origin sees. Requests with a body still to come get at most"
                  + " three quarters of them (of one, that one). So slow uploads leave some to"
                  + " requests without a body. Twice as many requests may wait for one on each"
                  + " loop. More are answered with 503 at once.")
          .defaultsTo(512);

  /** The settings of an upstream. */
  public static final Section<PoolSettings> SECTION =
      Section.of(
          PoolSettings.class,
          MAX_CONNECTIONS,
          Row.derived(pool -> 2 * pool.value(MAX_CONNECTIONS)),
          Setting.of(
                  "queue-timeout",
                  ValueTypes.timeout(),
                  "How long such a request waits before it is answered with 503.")
              .defaultsTo(Duration.ofSeconds(5)),
          Row.fixed(128),
          Setting.of(
                  "idle-timeout",
                  ValueTypes.timeout(),
                  "How long a connection without a request stays open for the next one. Keep it"
                      + " shorter than the origin's own limit, which is 5 s in Node.js and Apache."
                      + " Otherwise a request can meet a connection that the origin is closing.")
              .defaultsTo(Duration.ofSeconds(4)),
          Setting.of(
                  "upload-buffer",
                  ValueTypes.orWord("off", 0L, ValueTypes.size(1, 1L << 30)),
                  "How much of the content of a request may wait in memory. Kamille takes all"
                      + " content in before the request takes a connection, so slow clients keep"
                      + " none busy. Longer content goes to the file of `spool`. Kamille"
                      + " answers `Expect: 100-continue` itself then. All content that waits takes"
                      + " at most an eighth of the direct memory. Without room in memory and"
                      + " file, requests take a connection at once. So do gRPC, and all with"
                      + " `off`.")
              .defaultsTo(1L << 20)
              .into("uploadBufferBytes"),
          Row.fixed(1L << 20));

  public static final PoolSettings DEFAULTS = SECTION.defaults();

  /**
   * Whether the content of a request waits until all of it is here.
   *
   * @param length what the request says of it, negative if it does not
   * @param fileBytes what of one may wait in the file
   */
  public boolean takesIn(Fields request, long length, long fileBytes) {
    return length != 0
        && uploadBufferBytes > 0
        && length <= uploadBufferBytes + fileBytes
        && !StreamType.isGrpc(request)
        && !request.has(FieldName.UPGRADE);
  }

  /** Whether the content of such a response waits if its client is slow. */
  public boolean holds(ResponseHead response) {
    return responseBufferBytes > 0
        && response.status() >= StatusCode.OK
        && !StreamType.is(response.fields());
  }
}
