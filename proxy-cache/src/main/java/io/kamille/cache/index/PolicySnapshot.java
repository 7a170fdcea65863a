package io.kamille.cache.index;

import java.util.List;

/**
 * Which policy an index has at one moment, and what is known about both.
 *
 * @param choice what the operator said
 * @param policy what it has come to
 * @param sinceEpochSeconds since when
 * @param reason why, in words
 * @param switches how often it has changed
 * @param estimates one for each policy, in their order
 * @param sampledRequests of how many requests the estimates are made; 0 until there are any
 * @param sampledShare the part of all keys that they are made of, 0 to 1
 */
public record PolicySnapshot(
    PolicyChoice choice,
    Policy policy,
    long sinceEpochSeconds,
    String reason,
    long switches,
    List<Estimate> estimates,
    long sampledRequests,
    double sampledShare) {

  /**
   * How often a policy would hit, among requests for what may be stored.
   *
   * @param objectHitRatio the part of these requests, 0 to 1
   * @param byteHitRatio the part of the octets they ask for, 0 to 1
   */
  public record Estimate(Policy policy, double objectHitRatio, double byteHitRatio) {}
}
