package io.kamille.admin.tuning;

import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;

/** What is known of clients by their neighbourhood: a /24 or a /48. Written by one thread. */
final class ClientGroups {

  /*
   * Read by loops for each new connection, hence the map. What was learnt fades by half in ten
   * minutes and is dropped once nothing is left. Addresses are chosen by those who send from them:
   * when there are too many groups, no new one begins before others have faded.
   */
  private static final int MOST = 65_536;
  private static final double HALF_LIFE_SECONDS = 600;
  private static final double FADE_SECONDS = 30;
  private static final double LEAST_WEIGHT = 0.01;
  private static final double MOST_WEIGHT = 50;
  private static final int IPV4_BYTES = 3;
  private static final int IPV6_BYTES = 6;
  private static final long IPV6 = 1L << 62;

  private final ConcurrentHashMap<Long, GroupPrior> priors = new ConcurrentHashMap<>();
  private double secondsSinceFade;

  /** What is known of a client's group. Any thread. */
  GroupPrior of(InetAddress client) {
    return priors.getOrDefault(key(client), GroupPrior.UNKNOWN);
  }

  /** Learns. */
  void learn(InetAddress client, Estimate estimate) {
    Long key = key(client);
    GroupPrior known = priors.get(key);
    if (known != null || priors.size() < MOST) {
      GroupPrior next = (known == null ? GroupPrior.UNKNOWN : known).with(estimate);
      if (next.weight() > 0) {
        priors.put(
            key, next.weight() > MOST_WEIGHT ? next.faded(MOST_WEIGHT / next.weight()) : next);
      }
    }
  }

  /** Lets so much time pass. */
  void fade(double seconds) {
    secondsSinceFade += seconds;
    if (secondsSinceFade < FADE_SECONDS) {
      return;
    }
    double part = Math.pow(0.5, secondsSinceFade / HALF_LIFE_SECONDS);
    secondsSinceFade = 0;
    priors.replaceAll((_, prior) -> prior.faded(part));
    priors.values().removeIf(prior -> prior.weight() < LEAST_WEIGHT);
  }

  private static Long key(InetAddress client) {
    byte[] octets = client.getAddress();
    boolean isIpv4 = octets.length == 4;
    long key = isIpv4 ? 0 : IPV6;
    for (int i = 0; i < (isIpv4 ? IPV4_BYTES : IPV6_BYTES); i++) {
      key |= (octets[i] & 0xffL) << (8 * i);
    }
    return key;
  }
}
