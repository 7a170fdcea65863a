package io.kamille.admin.tuning;

import io.kamille.core.socket.CongestionControl;
import io.kamille.core.socket.TcpSample;
import java.time.Duration;

/** Looks at a connection that is told how its path behaves. */
final class TestSamples {

  static final int MSS = 1448;

  private final CongestionControl control;
  private long nanos;
  private long rttMicros = 50_000;
  private long segments = 10;
  private long retransmits;
  private long acknowledged;
  private long busyMicros;
  private long receiverLimited;
  private long senderLimited;
  private long deliveryRate;
  private long unsent;
  private boolean appLimited;
  private int timeouts;

  TestSamples(CongestionControl control) {
    this.control = control;
  }

  TestSamples rtt(Duration rtt) {
    rttMicros = rtt.toNanos() / 1000;
    return this;
  }

  TestSamples appLimited() {
    appLimited = true;
    return this;
  }

  /** A second passes. */
  TestSamples second(long segments, long lost, long deliveryRate) {
    nanos += 1_000_000_000L;
    this.segments += segments;
    retransmits += lost;
    acknowledged += segments * MSS;
    busyMicros += 1_000_000;
    this.deliveryRate = deliveryRate;
    return this;
  }

  /** It was held up for that part of the last second. */
  TestSamples limited(double byReceiver, double bySender) {
    receiverLimited += (long) (byReceiver * 1_000_000);
    senderLimited += (long) (bySender * 1_000_000);
    return this;
  }

  /** A second in which nothing is acknowledged. */
  TestSamples stalledSecond() {
    nanos += 1_000_000_000L;
    busyMicros += 1_000_000;
    unsent = 30_000;
    return this;
  }

  /** Of what was lost, so much was found out by time-outs. */
  TestSamples timeouts(int more) {
    timeouts += more;
    return this;
  }

  TestSamples clockBack(long nanos) {
    this.nanos -= nanos;
    return this;
  }

  TcpSample sample() {
    return new TcpSample(
        nanos,
        control,
        MSS,
        rttMicros,
        200_000 + rttMicros,
        20,
        segments,
        retransmits,
        0,
        timeouts,
        acknowledged,
        0,
        unsent,
        deliveryRate,
        appLimited,
        busyMicros,
        receiverLimited,
        senderLimited);
  }

  /** What a kernel tells that knows only the first hundred octets of its structure. */
  TcpSample shortLook() {
    return new TcpSample(
        nanos,
        control,
        MSS,
        rttMicros,
        250_000,
        20,
        0,
        retransmits,
        0,
        0,
        acknowledged,
        0,
        0,
        0,
        false,
        0,
        0,
        0);
  }
}
