package io.kamille.admin.tuning;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.CongestionControl;
import io.kamille.core.socket.TcpSample;
import org.jspecify.annotations.Nullable;

/** Estimates what one connection's path can carry, look by look. Pure; confined to one thread. */
final class ThroughputEstimator {

  /*
   * After Terai, Okamoto, Hasegawa and Murata, 2001 (docs/research.md, P4): throughput by
   * loss, round-trip time and time-out, demand = throughput × round-trip time. What differs:
   *
   * First it is asked what holds the connection up. If that is the client's window, or nothing is
   * acknowledged at all, its rate is what the client takes: in lumps, hence the mean over 8 s. If
   * it is our own send buffer, the rate is our doing, and the demand doubles from what was granted.
   *
   * Reno and CUBIC are limited by loss: the rate follows from the law, but is never above the best
   * that arrived while nothing was lost, since a law knows no upper bound. Where many share a
   * narrow link windows are too small for SACK, and time-outs count: each costs what it lasts. Nor
   * is the rate above what arrived in the mean of 8 s while nothing but loss held the connection
   * up. What was best fades, but no further than to what arrives now: some paths lose at every
   * look. BBR, and what we do not know, goes by the delivery rate: its mean over 2 s is what to
   * expect, the greater of the last two is what the buffer is for. A path that lost nothing has no
   * law either, unless its neighbours lose: it goes by what arrived at best, and if that is unknown
   * by its window. Readings of a connection that had no more to send tell little: while there are
   * no others, what arrived counts, by the time it took.
   *
   * A round-trip time that is four times another, twice in a row, is another path: what was learnt
   * is forgotten. Time is monotonic; a look that is not later than the last one is passed over.
   */
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double RTT_SECONDS = 8;
  private static final double RATE_SECONDS = 2;
  private static final double TAKEN_SECONDS = 8;
  private static final double BEST_SECONDS = 60;
  private static final double RECEIVER_LIMITED = 0.5;
  private static final double SENDER_LIMITED = 0.1;
  private static final double OTHER_PATH = 4;
  private static final int OTHER_PATH_LOOKS = 2;
  private static final double CERTAIN_SECONDS = 10;
  private static final long WRAP = 1L << Integer.SIZE;

  private final LossWindow losses = new LossWindow();
  private @Nullable TcpSample last;
  private @Nullable Estimate estimate;
  private double rttMicros;
  private double rtoMicros;
  private double deliveryRate;
  private double deliverySeconds;
  private double lastDelivery;
  private double deliveryBeforeLast;
  private double bestWithoutLoss;
  private double taken;
  private double carried;
  private double carriedSeconds;
  private double secondsSinceTaken = Double.POSITIVE_INFINITY;
  private int looksOnOtherPath;
  // Of the present look.
  private GroupPrior prior = GroupPrior.UNKNOWN;
  private double byReceiver;
  private double bySender;

  /**
   * Takes another look into account.
   *
   * @param prior what the client's group is like
   * @param grantedBytes what the send buffer may hold now; 0 if the kernel decides
   */
  Estimate add(TcpSample now, GroupPrior prior, long grantedBytes) {
    this.prior = prior;
    byReceiver = 0;
    bySender = 0;
    TcpSample before = last;
    if (before != null && now.atNanos() - before.atNanos() <= 0) {
      return estimate == null ? guess(now) : estimate;
    }
    last = now;
    if (before == null) {
      rttMicros = now.srttMicros();
      rtoMicros = now.rtoMicros();
      estimate = guess(now);
    } else {
      estimate = next(before, now, grantedBytes);
    }
    return estimate;
  }

  /** Of a connection's first look, the window is all that is about its path. */
  private Estimate guess(TcpSample now) {
    return prior.isKnown()
        ? estimate(Basis.GROUP, prior.bytesPerSecond(), 0)
        : estimate(Basis.WINDOW, windowPerSecond(now), 0);
  }

  private Estimate next(TcpSample before, TcpSample now, long grantedBytes) {
    double seconds = (now.atNanos() - before.atNanos()) / NANOS_PER_SECOND;
    followPath(now, seconds);
    long lost =
        Math.max(
            0,
            counted(now.retransmits(), before.retransmits())
                - counted(now.spuriousRetransmits(), before.spuriousRetransmits()));
    long segments = counted(now.segmentsOut(), before.segmentsOut());
    long timeouts = Math.max(0, now.timeouts() - before.timeouts());
    losses.add(
        segments, lost, timeouts, seconds, seconds * MICROS_PER_SECOND / Math.max(rttMicros, 1));
    followDelivery(now, segments > 0, lost > 0, seconds);

    double busy = (double) Math.max(now.busyMicros() - before.busyMicros(), 1);
    byReceiver = share(now.receiverLimitedMicros() - before.receiverLimitedMicros(), busy);
    bySender = share(now.senderLimitedMicros() - before.senderLimitedMicros(), busy);
    long arrived = Math.max(0, now.acknowledgedBytes() - before.acknowledgedBytes());
    boolean isReceiverLimited = byReceiver > RECEIVER_LIMITED;
    followTaken(isReceiverLimited, arrived, seconds);
    if (!isReceiverLimited && bySender <= SENDER_LIMITED && !now.isAppLimited()) {
      followCarried(arrived, busy / MICROS_PER_SECOND);
    }
    boolean isTaking = arrived > 0 || (isReceiverLimited && secondsSinceTaken <= TAKEN_SECONDS);
    if (!isTaking && now.inFlightBytes() + now.unsentBytes() > 0) {
      return estimate(Basis.STALLED, 0, 1);
    }
    if (isReceiverLimited) {
      return estimate(Basis.RECEIVER, taken, 1);
    }
    if (!now.isWhole()) {
      return estimate(Basis.WINDOW, windowPerSecond(now), 0);
    }
    Estimate path =
        isLimitedByLoss(now.control())
            ? byLoss(now)
            : byDelivery(arrived / (busy / MICROS_PER_SECOND));
    return bySender > SENDER_LIMITED && grantedBytes > 0 ? larger(path, grantedBytes) : path;
  }

  private static boolean isLimitedByLoss(CongestionControl control) {
    return control == CongestionControl.RENO || control == CongestionControl.CUBIC;
  }

  private void followPath(TcpSample now, double seconds) {
    double ratio = now.srttMicros() / Math.max(rttMicros, 1);
    looksOnOtherPath = ratio > OTHER_PATH || ratio < 1 / OTHER_PATH ? looksOnOtherPath + 1 : 0;
    if (looksOnOtherPath >= OTHER_PATH_LOOKS) {
      looksOnOtherPath = 0;
      losses.clear();
      rttMicros = now.srttMicros();
      rtoMicros = now.rtoMicros();
      deliveryRate = 0;
      deliverySeconds = 0;
      lastDelivery = 0;
      deliveryBeforeLast = 0;
      bestWithoutLoss = 0;
      carried = 0;
      carriedSeconds = 0;
    } else {
      double part = part(seconds, RTT_SECONDS);
      rttMicros += part * (now.srttMicros() - rttMicros);
      rtoMicros += part * (now.rtoMicros() - rtoMicros);
    }
  }

  private void followDelivery(TcpSample now, boolean sent, boolean lost, double seconds) {
    bestWithoutLoss =
        Math.max(
            bestWithoutLoss * (1 - part(seconds, BEST_SECONDS)),
            Math.min(bestWithoutLoss, (double) now.deliveryRate()));
    if (!sent) {
      return;
    }
    if (!lost) {
      bestWithoutLoss = Math.max(bestWithoutLoss, (double) now.deliveryRate());
    }
    if (!now.isAppLimited()) {
      double part = deliverySeconds == 0 ? 1 : part(seconds, RATE_SECONDS);
      deliveryRate += part * (now.deliveryRate() - deliveryRate);
      deliverySeconds += seconds;
      deliveryBeforeLast = lastDelivery;
      lastDelivery = now.deliveryRate();
    }
  }

  /** A client that reads slowly opens its window in lumps, some seconds apart. */
  private void followTaken(boolean isReceiverLimited, long arrived, double seconds) {
    if (!isReceiverLimited) {
      secondsSinceTaken = Double.POSITIVE_INFINITY;
      return;
    }
    double part = Double.isInfinite(secondsSinceTaken) ? 1 : part(seconds, TAKEN_SECONDS);
    if (arrived > 0) {
      taken += part * (arrived / seconds - taken);
      secondsSinceTaken = 0;
    } else {
      taken -= part * taken;
      secondsSinceTaken += seconds;
    }
  }

  private void followCarried(long arrived, double busySeconds) {
    double part = carriedSeconds == 0 ? 1 : part(busySeconds, TAKEN_SECONDS);
    carried += part * (arrived / busySeconds - carried);
    carriedSeconds += busySeconds;
  }

  private Estimate byLoss(TcpSample now) {
    if (!losses.hasLost() && !prior.isKnown()) {
      return withoutLoss(now);
    }
    double p = Math.clamp(losses.eventRate(prior.lossEventRate()), 1e-7, 0.5);
    double window = LossModel.segments(now.control(), p, rttMicros / MICROS_PER_SECOND);
    double byLaw =
        1 / (1 / perSecond(Math.max(window, 1) * now.mssBytes()) + waitedPerOctet(now.mssBytes()));
    if (carriedSeconds >= RATE_SECONDS && losses.hasLost()) {
      byLaw = Math.min(byLaw, carried);
    }
    boolean isBounded = bestWithoutLoss > 0 && bestWithoutLoss < byLaw;
    double rate = isBounded ? bestWithoutLoss : byLaw;
    double certain =
        isBounded
            ? deliverySeconds / CERTAIN_SECONDS
            : 1 - 0.5 / Math.sqrt(Math.max(losses.events(), 0.25));
    return estimate(isBounded ? Basis.DELIVERY : Basis.LOSS, rate, certain);
  }

  /** Seconds that time-outs cost, as the kernel counts them. */
  private double waitedPerOctet(int mssBytes) {
    return losses.timeoutRate() * rtoMicros / MICROS_PER_SECOND / Math.max(mssBytes, 1);
  }

  private Estimate withoutLoss(TcpSample now) {
    return bestWithoutLoss == 0
        ? estimate(Basis.WINDOW, windowPerSecond(now), 0)
        : estimate(Basis.DELIVERY, bestWithoutLoss, deliverySeconds / CERTAIN_SECONDS);
  }

  private Estimate byDelivery(double whileBusy) {
    if (deliverySeconds == 0) {
      return estimate(Basis.DELIVERY, whileBusy, 0);
    }
    double sizing = Math.max(deliveryRate, Math.max(lastDelivery, deliveryBeforeLast));
    return estimate(Basis.DELIVERY, deliveryRate, sizing, deliverySeconds / CERTAIN_SECONDS);
  }

  /** Our buffer held the connection up: what it could carry nobody knows before it is larger. */
  private static Estimate larger(Estimate path, long grantedBytes) {
    return new Estimate(
        Basis.SENDER,
        path.bytesPerSecond(),
        path.rttMicros(),
        path.rtoMicros(),
        path.lossEventRate(),
        path.lossEvents(),
        path.deliveryRate(),
        path.receiverLimitedShare(),
        path.senderLimitedShare(),
        Math.max(path.demandBytes(), 2 * grantedBytes),
        path.confidence());
  }

  private Estimate estimate(Basis basis, double bytesPerSecond, double certain) {
    return estimate(basis, bytesPerSecond, bytesPerSecond, certain);
  }

  private Estimate estimate(Basis basis, double bytesPerSecond, double sizing, double certain) {
    double demand = sizing * rttMicros / MICROS_PER_SECOND * TuningSettings.HEADROOM;
    return new Estimate(
        basis,
        bytesPerSecond,
        rttMicros,
        rtoMicros,
        losses.eventRate(prior.lossEventRate()),
        losses.events(),
        deliveryRate,
        byReceiver,
        bySender,
        (long) Math.min(demand, Integer.MAX_VALUE),
        Math.clamp(certain, 0, 1));
  }

  private double windowPerSecond(TcpSample now) {
    return perSecond((double) now.cwndSegments() * now.mssBytes());
  }

  private double perSecond(double windowBytes) {
    return windowBytes / (Math.max(rttMicros, 1) / MICROS_PER_SECOND);
  }

  /** The kernel counts in 32 bits. */
  private static long counted(long now, long before) {
    long difference = Math.floorMod(now - before, WRAP);
    return difference < WRAP / 2 ? difference : 0;
  }

  private static double share(long micros, double busyMicros) {
    return Math.clamp(micros / busyMicros, 0, 1);
  }

  private static double part(double seconds, double overSeconds) {
    return -Math.expm1(-seconds / overSeconds);
  }
}
