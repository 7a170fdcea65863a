package io.kamille.perf.load;

import java.util.Arrays;

/**
 * The distributions of the workloads, each as the value at a share of all values: a uniform number
 * from 0 (in) to 1 (out) goes in, a value comes out.
 */
public final class Distribution {

  /*
   * All but the normal one by the inverse of the distribution function. StrictMath makes a seed
   * mean the same on every machine.
   */

  private Distribution() {}

  public static double exponential(double mean, double share) {
    return -mean * StrictMath.log(1 - share);
  }

  /** With mean 0 and deviation 1, of two independent shares (Box, Muller, 1958). */
  static double normal(double share, double other) {
    return StrictMath.sqrt(-2 * StrictMath.log(1 - share)) * StrictMath.cos(2 * Math.PI * other);
  }

  /** By its own mean and standard deviation, not by those of its logarithm. */
  public static double logNormal(double mean, double deviation, double share, double other) {
    double variance = StrictMath.log(1 + deviation * deviation / (mean * mean));
    return StrictMath.exp(
        StrictMath.log(mean) - variance / 2 + StrictMath.sqrt(variance) * normal(share, other));
  }

  /**
   * Whole numbers from 1 to a greatest one, each in inverse proportion to a power of itself.
   * Immutable.
   */
  public static final class Zipf {

    private final double[] sums;

    Zipf(int greatest) {
      this(greatest, 1);
    }

    public Zipf(int greatest, double exponent) {
      sums = new double[greatest];
      double sum = 0;
      for (int i = 0; i < greatest; i++) {
        sum += StrictMath.pow(i + 1, -exponent);
        sums[i] = sum;
      }
    }

    public int value(double share) {
      double wanted = share * sums[sums.length - 1];
      int found = Arrays.binarySearch(sums, wanted);
      return (found >= 0 ? found + 1 : -found - 1) + 1;
    }

    double mean() {
      double sum = 0;
      double before = 0;
      for (int i = 0; i < sums.length; i++) {
        sum += (i + 1) * (sums[i] - before);
        before = sums[i];
      }
      return sum / sums[sums.length - 1];
    }
  }
}
