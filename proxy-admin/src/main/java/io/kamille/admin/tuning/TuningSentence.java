package io.kamille.admin.tuning;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.core.socket.SendBuffer;
import java.util.Locale;

/** Says in a sentence or two why a connection has the send buffer it has. Pure. */
final class TuningSentence {

  private static final double KIB = 1024;
  private static final double BITS = 8e-6;
  private static final double MILLIS = 1000;
  private static final double PERCENT = 100;

  private TuningSentence() {}

  static String of(TunedConnection connection, TuningPolicy policy, long nowNanos) {
    String size =
        connection.isOverridden(nowNanos)
            ? String.format(
                Locale.ROOT,
                "An operator set %s for %d s more.",
                size(connection.overriddenBytes()),
                (connection.overriddenUntilNanos() - nowNanos) / 1_000_000_000L)
            : size(connection, policy);
    String refused = connection.refused() == null ? "" : " Refused: " + connection.refused() + ".";
    return path(connection) + " " + size + " " + mark(connection.asked()) + refused;
  }

  private static String path(TunedConnection connection) {
    Estimate estimate = connection.estimate();
    double megabits = estimate.bytesPerSecond() * BITS;
    double rtt = estimate.rttMicros() / MILLIS;
    return switch (estimate.basis()) {
      case GROUP -> format("New; its neighbours get %.2f Mbit/s at %.1f ms.", megabits, rtt);
      case LOSS ->
          format(
              "%s loses %.2f %% of its segments: %.2f Mbit/s at %.1f ms.",
              connection.sample().control().token(),
              estimate.lossEventRate() * PERCENT,
              megabits,
              rtt);
      case DELIVERY -> format("The path delivers %.2f Mbit/s at %.1f ms.", megabits, rtt);
      case RECEIVER ->
          format(
              "The client reads %.2f Mbit/s; its window held us up for %.0f %% of the time.",
              megabits, estimate.receiverLimitedShare() * PERCENT);
      case SENDER ->
          format(
              "Our send buffer held it up for %.0f %% of the time, so it gets more.",
              estimate.senderLimitedShare() * PERCENT);
      case STALLED -> "The client acknowledges nothing.";
      case WINDOW -> format("Little is known yet: the window allows %.2f Mbit/s.", megabits);
    };
  }

  private static String size(TunedConnection connection, TuningPolicy policy) {
    int granted = connection.grantedBytes();
    if (!policy.isSizing()) {
      return granted == 0
          ? "The kernel tunes the size."
          : format(
              "The size stays %s until it closes: this kernel cannot take it back.", size(granted));
    }
    long demand = connection.estimate().demandBytes();
    long part = connection.partBytes();
    if (connection.asked().isAutotuned()) {
      return "Its part is more than the kernel would use, which tunes the size.";
    }
    String limited =
        granted > 0 && granted < connection.asked().sendBufferBytes()
            ? format(" The kernel granted %s (net.core.wmem_max).", size(granted))
            : "";
    String share =
        part < demand
            ? format("It could use %s; the budget leaves it %s.", size(demand), size(part))
            : format("It can use %s and gets %s.", size(demand), size(part));
    return (policy == TuningPolicy.EQUAL ? format("All get %s.", size(part)) : share) + limited;
  }

  private static String mark(SendBuffer buffer) {
    return buffer.notSentLowWatermarkBytes() == 0
        ? "What was never sent is not bounded."
        : format("At most %s may wait unsent.", size(buffer.notSentLowWatermarkBytes()));
  }

  private static String size(long octets) {
    return octets == 0 ? "the kernel's tuning" : format("%.0f KiB", octets / KIB);
  }

  @FormatMethod
  private static String format(@FormatString String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
