package io.kamille.admin.tuning;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.socket.CongestionControl;
import java.util.Locale;

/** How large a sender's window is on average, given how often its path loses. Pure. */
public enum LossModel {

  /**
   * Fitted to Reno and CUBIC as Linux has them today. SACK, RACK and TLP leave hardly any
   * retransmission time-out, so none is in it: those that the kernel counts come on top.
   */
  FITTED {
    @Override
    double segments(CongestionControl control, double p, double rttSeconds, double rtoSeconds) {
      if (control == CongestionControl.RENO) {
        return 1.31 / Math.sqrt(p) - 0.5;
      }
      double reno = 1.24 / Math.sqrt(p) - 0.8;
      double cubic = 1.2 * Math.pow(rttSeconds / p, 0.75);
      return Math.pow(Math.pow(Math.max(reno, 0), BLEND) + Math.pow(cubic, BLEND), 1 / BLEND);
    }
  },

  /** Padhye, Firoiu, Towsley and Kurose, 1998, the full model with its time-outs. */
  PADHYE {
    @Override
    double segments(CongestionControl control, double p, double rttSeconds, double rtoSeconds) {
      // One acknowledgement for each segment (b = 1): Linux counts octets, so that delayed
      // acknowledgements do not slow a window's growth.
      double window = 1 + Math.sqrt(8 * (1 - p) / (3 * p) + 1);
      double timeout = timeoutShare(p, window);
      double sent = (1 - p) / p + window + timeout / (1 - p);
      double time = rttSeconds * (window / 2 + 1) + timeout * rtoSeconds * backoff(p) / (1 - p);
      return sent / time * rttSeconds;
    }
  },

  /** Mathis, Semke, Mahdavi and Ott, 1997: the window as if there were no time-outs. */
  SQUARE_ROOT {
    @Override
    double segments(CongestionControl control, double p, double rttSeconds, double rtoSeconds) {
      return Math.sqrt(1.5 / p);
    }
  };

  private static final double BLEND = 5.5;

  /** How it is written in settings and in the API. */
  public String token() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** As a setting. */
  public static ValueType<LossModel> type() {
    return ValueTypes.oneOf(values());
  }

  /**
   * The mean window in segments.
   *
   * @param p loss events per segment, over 0 and below 1
   */
  abstract double segments(
      CongestionControl control, double p, double rttSeconds, double rtoSeconds);

  /** The part of loss events that end in a time-out. */
  private static double timeoutShare(double p, double window) {
    double kept = Math.pow(1 - p, 3);
    double share =
        (1 - kept) * (1 + kept * (1 - Math.pow(1 - p, window - 3))) / (1 - Math.pow(1 - p, window));
    return Math.clamp(share, 0, 1);
  }

  /** How time-outs in a row add up, each twice the one before, to 64 times the first. */
  private static double backoff(double p) {
    double sum = 1;
    double power = 1;
    for (int i = 0; i < 6; i++) {
      power *= p;
      sum += power * (1 << i);
    }
    return sum;
  }
}
