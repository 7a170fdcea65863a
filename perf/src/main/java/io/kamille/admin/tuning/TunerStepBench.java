package io.kamille.admin.tuning;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.SendBuffer;
import io.kamille.perf.MicroBench;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;

/** What it costs to turn an estimate into the send buffer that a connection gets. */
public class TunerStepBench extends MicroBench {

  private static final int ESTIMATES = 1024;

  private final Estimate[] estimates = new Estimate[ESTIMATES];
  private SendBuffer present = SendBufferLaw.initial(TuningSettings.DEFAULT);
  private int next;

  /** Estimates of every basis, over three orders of magnitude. */
  public TunerStepBench() {
    var random = new SplittableRandom(4);
    for (int i = 0; i < ESTIMATES; i++) {
      double rate = Math.pow(10, random.nextDouble(4, 7));
      Basis basis = Basis.values()[random.nextInt(Basis.values().length)];
      estimates[i] =
          new Estimate(basis, rate, 5e4, 3e5, 0.01, 4, rate, 0, 0, (long) (rate * 0.1), 0.5);
    }
  }

  @Benchmark
  public SendBuffer next() {
    next = (next + 1) % ESTIMATES;
    Estimate estimate = estimates[next];
    present = SendBufferLaw.next(present, estimate, estimate.demandBytes(), TuningSettings.DEFAULT);
    return present;
  }
}
