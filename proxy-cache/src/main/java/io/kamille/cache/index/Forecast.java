package io.kamille.cache.index;

import java.util.List;

/**
 * What each policy would have hit with more or less memory, from when it was asked for on.
 *
 * @param untilEpochSeconds when watching ends
 * @param isOpen whether it goes on
 * @param sampledShare the part of all keys that was watched, 0 to 1
 * @param estimates by policy, then by memory
 */
public record Forecast(
    long sinceEpochSeconds,
    long untilEpochSeconds,
    boolean isOpen,
    double sampledShare,
    List<Estimate> estimates) {

  public Forecast {
    estimates = List.copyOf(estimates);
  }

  /**
   * One policy with one amount of memory, which was empty at the beginning.
   *
   * @param factor of the memory that there is
   * @param requests sampled ones, for what may be stored
   * @param objectHitRatio the part of these requests, 0 to 1
   * @param byteHitRatio the part of the octets they ask for, 0 to 1
   * @param filled how full it is by now, 0 to 1
   * @param error one standard deviation of the ratio of requests, if they were independent
   */
  public record Estimate(
      Policy policy,
      double factor,
      long capacityBytes,
      long requests,
      double objectHitRatio,
      double byteHitRatio,
      double filled,
      double error) {}
}
