package io.kamille.core.origin.choose;

import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.Origin;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Takes the same origin for the same key, with bounded loads. Confined to its loop. */
public final class ConsistentHash extends OriginChoice {

  /*
   * Rendezvous hashing by weight (David Thaler, Chinya Ravishankar, Using Name-Based Mappings to
   * Increase Hit Rates, 1998): of all origins the key takes the one with the least −ln(u) / weight,
   * where u is a number from 0 to 1 that key and origin make. An origin that goes takes its own
   * keys along and no others; one that returns gets them back bit by bit, as its weight grows. The
   * numbers are the same in each process, so that several proxies agree.
   *
   * No origin gets more than its part of 1.25 times the requests in flight; then the next one for
   * the key does (Vahab Mirrokni, Mikkel Thorup, Morteza Zadimoghaddam, Consistent Hashing with
   * Bounded Loads, 2018). A key that everybody asks for, chosen by an attacker or not, falls upon
   * no one alone.
   */
  public static final double BOUND = 1.25;

  private final long[] seeds;

  ConsistentHash(List<Origin> origins) {
    super(origins);
    this.seeds = origins.stream().mapToLong(ConsistentHash::seed).toArray();
  }

  private static long seed(Origin origin) {
    byte[] url = origin.url().toString().getBytes(StandardCharsets.US_ASCII);
    return HashKey.hash(HashKey.START, url, 0, url.length);
  }

  @Override
  boolean isKeyed() {
    return true;
  }

  @Override
  int pick(int count) {
    long inFlight = 1;
    long weight = 0;
    for (int i = 0; i < count; i++) {
      inFlight += origins[candidates[i]].inFlight();
      weight += weights[candidates[i]];
    }
    int best = candidates[0];
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      int place = candidates[i];
      double most = Math.ceil(BOUND * inFlight * weights[place] / weight);
      double distance = distance(place);
      if (origins[place].inFlight() < most && distance < least) {
        least = distance;
        best = place;
      }
    }
    return best;
  }

  private double distance(int place) {
    return HashKey.distance(key ^ seeds[place], weights[place]);
  }
}
