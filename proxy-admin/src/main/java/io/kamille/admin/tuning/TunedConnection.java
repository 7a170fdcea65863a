package io.kamille.admin.tuning;

import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.TcpSample;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TcpSamples;
import io.kamille.core.socket.TcpSamples.Waiting;
import io.kamille.core.socket.TunableChannel;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/** What the tuner knows of a connection that is open. Guarded by the tuner. */
final class TunedConnection {

  private static final int ACTIVE_PERIODS = 3;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double GOODPUT_SECONDS = 8;

  final TunableChannel channel;
  final TcpSampler looker;
  private final ThroughputEstimator estimator = new ThroughputEstimator();
  private TcpSample sample;
  private Waiting waiting;
  private Estimate estimate;
  private SendBuffer asked;
  private int appliedBytes;
  private int grantedBytes;
  private @Nullable String refused;
  private boolean isUnmarked;
  private long partBytes;
  private long sharedDemandBytes;
  private long equalBytes;
  private long told;
  private long activeNanos;
  private boolean isIdle;
  private double goodput;
  private boolean hasCarried;

  /** A connection that was looked at for the first time. */
  TunedConnection(TcpSamples samples, int row, ClientGroups groups) {
    this.channel = samples.channel(row);
    this.looker = samples.looker();
    this.sample = samples.sample(row);
    this.waiting = samples.waiting(row);
    this.asked = channel.sendBuffer();
    this.told = channel.partBytes();
    this.activeNanos = sample.atNanos();
    this.estimate = observe(samples, row, groups);
  }

  /** Takes a look into account. */
  final Estimate observe(TcpSamples samples, int row, ClientGroups groups) {
    TcpSample before = sample;
    sample = samples.sample(row);
    waiting = samples.waiting(row);
    if (heldBytes() > 0 || sample.acknowledgedBytes() != before.acknowledgedBytes()) {
      activeNanos = sample.atNanos();
    }
    followGoodput(before);
    appliedBytes = channel.sendBuffer().sendBufferBytes();
    grantedBytes = channel.grantedBytes();
    refused = channel.refused();
    isUnmarked = channel.isUnmarked();
    estimate = estimator.add(sample, groups.of(channel.client()), grantedBytes);
    return estimate;
  }

  /** Whether it wrote of late, or octets wait. */
  boolean isActive(long nowNanos, long periodNanos) {
    return heldBytes() > 0 || nowNanos - activeNanos <= ACTIVE_PERIODS * periodNanos;
  }

  /** The congestion window in octets. */
  long windowBytes() {
    return sample.cwndSegments() * sample.mssBytes();
  }

  /** What takes memory for it: in front of the kernel, and in it. */
  long heldBytes() {
    return waiting.bufferedBytes() + sample.unsentBytes() + sample.inFlightBytes();
  }

  /** What waits for the client, wherever it lies. */
  long pendingBytes() {
    return heldBytes() + waiting.leasedBytes() + waiting.fileBytes();
  }

  /** The size the kernel keeps, or would have to keep now if it chose by itself. */
  long bufferBytes() {
    return grantedBytes > 0 ? grantedBytes : Math.max(windowBytes(), heldBytes());
  }

  ConnectionSnapshot snapshot(TuningPolicy policy, long nowNanos) {
    return new ConnectionSnapshot(
        channel.number(),
        NetUtil.toAddressString(channel.client()),
        channel.protocol(),
        sample.control().token(),
        (nowNanos - sample.atNanos()) / NANOS_PER_SECOND,
        ConnectionSnapshot.Path.of(estimate),
        partBytes == 0 ? estimate.demandBytes() : sharedDemandBytes,
        partBytes,
        new ConnectionSnapshot.Buffer(
            asked.sendBufferBytes(),
            grantedBytes,
            asked.notSentLowWatermarkBytes(),
            asked.lowWatermarkBytes(),
            asked.highWatermarkBytes()),
        new ConnectionSnapshot.Pending(
            waiting.bufferedBytes(),
            waiting.leasedBytes(),
            waiting.fileBytes(),
            sample.unsentBytes(),
            sample.inFlightBytes()),
        TuningSentence.of(this, policy));
  }

  TcpSample sample() {
    return sample;
  }

  Estimate estimate() {
    return estimate;
  }

  SendBuffer asked() {
    return asked;
  }

  void asked(SendBuffer next) {
    asked = next;
  }

  /** The size that its loop had set by the last look, which the kernel granted or cut. */
  int appliedBytes() {
    return appliedBytes;
  }

  int grantedBytes() {
    return grantedBytes;
  }

  @Nullable String refused() {
    return refused;
  }

  /** Whether a region of a file went without a mark at the last look. */
  boolean isUnmarked() {
    return isUnmarked;
  }

  /** Its part of the budget; 0 while the kernel decides. */
  long partBytes() {
    return partBytes;
  }

  void partBytes(long part, long equalPart) {
    partBytes = part;
    sharedDemandBytes = estimate.demandBytes();
    equalBytes = equalPart;
    isIdle = false;
  }

  /** The demand that its part was for: a look since may have found another one. */
  long sharedDemandBytes() {
    return sharedDemandBytes;
  }

  /** What an equal part was at that time; 0 if the budget met all demands. */
  long equalBytes() {
    return equalBytes;
  }

  /** It is idle: it has no part, and keeps what it was told. */
  void idles() {
    partBytes = 0;
    isIdle = true;
  }

  boolean isIdle() {
    return isIdle;
  }

  /**
   * What it carried in parts of what it could: 1 at the most, NaN while that is unknown, or if its
   * client takes nothing.
   */
  double met() {
    double rate = estimate.bytesPerSecond();
    boolean isKnown =
        switch (estimate.basis()) {
          case GROUP, WINDOW, STALLED -> false;
          case LOSS, DELIVERY, RECEIVER, SENDER -> rate > 0 && hasCarried;
        };
    return isKnown ? Math.min(1, goodput / rate) : Double.NaN;
  }

  /** The mean of late over the time in which there was something to send. */
  private void followGoodput(TcpSample before) {
    double seconds = (sample.busyMicros() - before.busyMicros()) / MICROS_PER_SECOND;
    if (seconds > 0) {
      double carried = (sample.acknowledgedBytes() - before.acknowledgedBytes()) / seconds;
      double part = hasCarried ? -Math.expm1(-seconds / GOODPUT_SECONDS) : 1;
      goodput += part * (carried - goodput);
      hasCarried = true;
    }
  }

  /** Of its part, what it may have now: a size to fix, or as much by the kernel's tuning. */
  long told() {
    return told;
  }

  void told(long sizeBytes) {
    told = sizeBytes;
  }

  /** Its size is not ours to decide any more. */
  void loseParts() {
    partBytes = 0;
    told = 0;
  }

  /** What it may hold now, be it that it was told less since. */
  long sizeHeld() {
    return Math.max(told, grantedBytes);
  }
}
