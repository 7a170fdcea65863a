package io.kamille.admin.tuning;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.core.socket.CongestionControl;
import io.kamille.core.socket.SendBuffer;
import java.util.Locale;

/** Says in a sentence or two why a connection has the send buffer it has. Pure. */
final class TuningSentence {

  private static final double KIB = 1024;
  private static final double MIB = KIB * KIB;
  private static final double BITS = 8e-6;
  private static final double KILO = 1000;
  private static final double TENS = 10;
  private static final double MOSTLY = 0.5;
  private static final double MOST_MEGABITS = 10_000;
  private static final double LEAST_MILLIS = 0.1;
  private static final double PERCENT = 100;
  private static final double LEAST_PERCENT = 0.01;

  private static final String UNMARKED =
      " What it sends now comes straight from memory or a file, and goes without that bound.";

  private TuningSentence() {}

  static String of(TunedConnection connection, TuningPolicy policy) {
    String refused = connection.refused() == null ? "" : " Refused: " + connection.refused() + ".";
    return path(connection.estimate(), connection.sample().control())
        + " "
        + size(connection, policy)
        + " "
        + mark(connection.asked())
        + (connection.isUnmarked() ? UNMARKED : "")
        + refused;
  }

  /** What is known of the path. */
  static String path(Estimate estimate, CongestionControl control) {
    String rate = rate(estimate.bytesPerSecond());
    String roundTrip = roundTrip(estimate.rttMicros());
    return switch (estimate.basis()) {
      case GROUP -> "New. Clients of its network get " + rate + ".";
      case LOSS ->
          estimate.hasLost()
              ? format(
                  "The path loses %s of its segments, which leaves %s %s at %s.",
                  percent(estimate.lossEventRate()), control.token(), rate, roundTrip)
              : format(
                  "The path lost nothing yet. If it lost %s of its segments, %s would get %s at"
                      + " %s.",
                  percent(estimate.lossEventRate()), control.token(), rate, roundTrip);
      case DELIVERY -> "The path carries " + rate + " at " + roundTrip + ".";
      case RECEIVER ->
          format(
              "The client reads %s: its receive window was full for %.0f %% of the time.",
              size(Math.round(estimate.bytesPerSecond())) + "/s",
              estimate.receiverLimitedShare() * PERCENT);
      case SENDER ->
          format(
              "Our send buffer held it up for %.0f %% of the time, so it asks for more.",
              estimate.senderLimitedShare() * PERCENT);
      case STALLED ->
          estimate.receiverLimitedShare() > MOSTLY
              ? "The client's receive window is full: it reads slowly or not at all."
              : "The client acknowledges nothing.";
      case WINDOW -> "Too little was sent yet to know the path.";
    };
  }

  /*
   * On loopback and within one machine, a rate says how fast memory is copied, and a round-trip
   * time how soon a thread woke up. Beyond what a path of today has, the limit is all that is told.
   */
  private static String rate(double bytesPerSecond) {
    double megabits = bytesPerSecond * BITS;
    if (megabits > MOST_MEGABITS) {
      return "more than 10 Gbit/s";
    }
    if (megabits >= KILO) {
      return format("%.1f Gbit/s", megabits / KILO);
    }
    if (megabits * KILO < 1) {
      return "next to nothing";
    }
    if (megabits < 1) {
      return format("%.0f kbit/s", megabits * KILO);
    }
    return figure(megabits) + " Mbit/s";
  }

  private static String percent(double part) {
    double percent = part * PERCENT;
    return percent < LEAST_PERCENT ? "less than 0.01 %" : format("%.2f %%", percent);
  }

  private static String roundTrip(double micros) {
    double millis = micros / KILO;
    if (millis < LEAST_MILLIS) {
      return "a round trip below 0.1 ms";
    }
    return figure(millis) + " ms round trip";
  }

  private static String figure(double value) {
    return value < TENS ? format("%.1f", value) : format("%.0f", value);
  }

  private static String size(TunedConnection connection, TuningPolicy policy) {
    int granted = connection.grantedBytes();
    if (!policy.isSizing()) {
      return bySystem(granted);
    }
    long demand = connection.sharedDemandBytes();
    long part = connection.partBytes();
    String now =
        connection.asked().isAutotuned()
            ? "The kernel sizes its send buffer."
            : format("It has %s.", size(connection.asked().sendBufferBytes()));
    if (connection.isIdle()) {
      return "It is idle and has no part of the budget. " + now;
    }
    if (part == 0) {
      return "Its part of the budget is not known yet. " + now;
    }
    if (connection.asked().isAutotuned()) {
      return format(
          "It gets %s, more than the kernel lets Kamille set, so the kernel sizes its send buffer.",
          size(part));
    }
    String limited =
        granted > 0 && granted < connection.appliedBytes()
            ? format(" The kernel granted %s (net.core.wmem_max).", size(granted))
            : "";
    String waiting =
        connection.told() < part && connection.told() < demand
            ? format(" It has %s until others give some back.", size(connection.told()))
            : "";
    return share(demand, part, connection.equalBytes()) + waiting + limited;
  }

  /** Of a size that is not ours, or no longer. */
  static String bySystem(int grantedBytes) {
    return grantedBytes == 0
        ? "The kernel sizes its send buffer."
        : format(
            "Its send buffer is %s until Kamille looks again, or until it closes if this kernel"
                + " cannot take that back.",
            size(grantedBytes));
  }

  /**
   * Why it has that part.
   *
   * @param equal what an equal part is; 0 if the budget meets all demands
   */
  static String share(long demand, long part, long equal) {
    if (demand == 0) {
      return format("It gets %s.", size(part));
    }
    if (part >= demand) {
      return format("It can use %s and gets %s.", size(demand), size(part));
    }
    if (equal == 0) {
      return format(
          "It could use %s and gets %s, half of the kernel's limit (net.ipv4.tcp_wmem).",
          size(demand), size(part));
    }
    return part <= equal
        ? format(
            "It could use %s, but the budget binds. It gets an equal part, %s.",
            size(demand), size(part))
        : format(
            "It could use %s, but the budget binds. It gets %s: an equal part of %s, and %s of what"
                + " smaller demands leave.",
            size(demand), size(part), size(equal), size(part - equal));
  }

  /** What may wait in the kernel and in front of it, and which setting bounds that. */
  static String mark(SendBuffer buffer) {
    long mark = buffer.notSentLowWatermarkBytes();
    long high = buffer.highWatermarkBytes();
    if (mark == 0) {
      return "Unsent content is not bounded.";
    }
    String bound =
        high == 2 * mark ? "" : high > mark * 2 ? ", the least" : ", the most, or memory is short";
    return format(
        "About %s of content may wait unsent in the kernel, and %s in front of it%s.",
        size(mark), size(high), bound);
  }

  private static String size(long octets) {
    if (octets >= MIB) {
      return format("%.1f MiB", octets / MIB);
    }
    return octets < KIB ? octets + " octets" : format("%.0f KiB", octets / KIB);
  }

  @FormatMethod
  private static String format(@FormatString String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
