package io.kamille.core.socket;

import java.nio.ByteBuffer;

/**
 * What TCP told of a connection at one look.
 *
 * <p>Counts are of the connection's whole life. A field that the kernel is too old to know is 0, so
 * nothing may be concluded from a 0 alone.
 *
 * @param atNanos when, monotonic
 * @param control the law of the congestion window
 * @param mssBytes content of a full segment
 * @param srttMicros smoothed round-trip time (RFC 6298)
 * @param rtoMicros retransmission time-out
 * @param cwndSegments congestion window
 * @param segmentsOut segments with content that were sent, also again (RFC 4898)
 * @param retransmits segments sent again
 * @param spuriousRetransmits segments that were sent again and had arrived before (RFC 2883)
 * @param timeouts how often the retransmission time-out passed
 * @param acknowledgedBytes octets the other side has
 * @param inFlightBytes octets sent and not acknowledged
 * @param unsentBytes octets in the send buffer that were never sent
 * @param deliveryRate octets a second that arrived at the other side of late
 * @param isAppLimited whether that was all there was to send
 * @param busyMicros time with something to send
 * @param receiverLimitedMicros part of it in which the other side's window held us up
 * @param senderLimitedMicros part of it in which our send buffer held us up
 */
public record TcpSample(
    long atNanos,
    CongestionControl control,
    int mssBytes,
    long srttMicros,
    long rtoMicros,
    long cwndSegments,
    long segmentsOut,
    long retransmits,
    long spuriousRetransmits,
    int timeouts,
    long acknowledgedBytes,
    long inFlightBytes,
    long unsentBytes,
    long deliveryRate,
    boolean isAppLimited,
    long busyMicros,
    long receiverLimitedMicros,
    long senderLimitedMicros) {

  /*
   * struct tcp_info of Linux 6.18; an offset never changes.
   *
   *     0  1  tcpi_state                 100  4  tcpi_total_retrans    184  8  tcpi_sndbuf_limited
   *     7  1  bit 0: app-limited         120  8  tcpi_bytes_acked      200  8  tcpi_bytes_sent
   *     8  4  tcpi_rto                   144  4  tcpi_notsent_bytes    208  8  tcpi_bytes_retrans
   *    16  4  tcpi_snd_mss                                             216  4  tcpi_dsack_dups
   *    24  4  tcpi_unacked               156  4  tcpi_data_segs_out
   *    68  4  tcpi_rtt                   160  8  tcpi_delivery_rate    240  2  tcpi_total_rto
   *    80  4  tcpi_snd_cwnd              168  8  tcpi_busy_time
   *                                      176  8  tcpi_rwnd_limited
   */
  static final int LENGTH = 280;

  private static final int APP_LIMITED = 7;
  private static final int RTO = 8;
  private static final int SND_MSS = 16;
  private static final int UNACKED = 24;
  private static final int RTT = 68;
  private static final int SND_CWND = 80;
  private static final int TOTAL_RETRANS = 100;
  private static final int BYTES_ACKED = 120;
  private static final int NOTSENT_BYTES = 144;
  private static final int DATA_SEGS_OUT = 156;
  private static final int DELIVERY_RATE = 160;
  private static final int BUSY_TIME = 168;
  private static final int RWND_LIMITED = 176;
  private static final int SNDBUF_LIMITED = 184;
  private static final int BYTES_SENT = 200;
  private static final int BYTES_RETRANS = 208;
  private static final int DSACK_DUPS = 216;
  private static final int TOTAL_RTO = 240;
  private static final long SHORT_MASK = 0xffff;

  /** Reads the structure that begins at {@code offset} of {@code memory}. */
  static TcpSample read(ByteBuffer memory, int offset, long atNanos, CongestionControl control) {
    int mss = memory.getInt(offset + SND_MSS);
    long acknowledged = memory.getLong(offset + BYTES_ACKED);
    return new TcpSample(
        atNanos,
        control,
        mss,
        unsigned(memory, offset + RTT),
        unsigned(memory, offset + RTO),
        unsigned(memory, offset + SND_CWND),
        unsigned(memory, offset + DATA_SEGS_OUT),
        unsigned(memory, offset + TOTAL_RETRANS),
        unsigned(memory, offset + DSACK_DUPS),
        (int) (memory.getShort(offset + TOTAL_RTO) & SHORT_MASK),
        acknowledged,
        inFlight(memory, offset, acknowledged, mss),
        unsigned(memory, offset + NOTSENT_BYTES),
        memory.getLong(offset + DELIVERY_RATE),
        (memory.get(offset + APP_LIMITED) & 1) != 0,
        memory.getLong(offset + BUSY_TIME),
        memory.getLong(offset + RWND_LIMITED),
        memory.getLong(offset + SNDBUF_LIMITED));
  }

  /** To the octet where the kernel counts what it sent, else by segments. */
  private static long inFlight(ByteBuffer memory, int offset, long acknowledged, int mss) {
    long sent = memory.getLong(offset + BYTES_SENT);
    return sent == 0
        ? unsigned(memory, offset + UNACKED) * mss
        : Math.max(0, sent - memory.getLong(offset + BYTES_RETRANS) - acknowledged);
  }

  private static long unsigned(ByteBuffer memory, int offset) {
    return Integer.toUnsignedLong(memory.getInt(offset));
  }

  /** Whether the kernel counts segments and measures the delivery rate (Linux 4.9 and later). */
  public boolean isWhole() {
    return segmentsOut > 0;
  }
}
