package io.kamille.admin.view;

import io.kamille.core.metric.HistogramSnapshot;

/**
 * How long requests took since the start, from the complete head to the last octet of the answer.
 *
 * @param hits those that were answered from the store
 * @param others those that an origin was asked about, or nobody
 */
public record RequestDurations(HistogramSnapshot hits, HistogramSnapshot others) {

  /** Both together. */
  public HistogramSnapshot all() {
    return hits.plus(others);
  }
}
