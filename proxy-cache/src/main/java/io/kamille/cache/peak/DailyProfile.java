package io.kamille.cache.peak;

import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How many requests come at what time of the day, learnt from the days that were seen: a hint to
 * operators which hours to call peak hours, and no more. Confined to its user.
 */
final class DailyProfile {

  /*
   * The paper (P2) found the peak at noon every day. Each half-hour of the day has a mean rate over
   * about a week: the first day counts whole, later ones for a share, at least a seventh. A half-hour
   * that was seen for less than a third of its length says nothing for that day. Busy is what has
   * half as many requests again as the mean of the day; nothing is said before most of a day is
   * known.
   */
  private static final int MINUTES = 30;
  private static final int SLOTS = 24 * 60 / MINUTES;
  private static final int LEAST_SLOTS = SLOTS * 3 / 4;
  private static final int DAYS = 7;
  private static final double LEAST_SECONDS = MINUTES * 60 / 3.0;
  private static final double BUSY = 1.5;

  private final double[] rates = new double[SLOTS];
  private final int[] days = new int[SLOTS];
  private int slot = -1;
  private double seconds;
  private double requests;

  /** Takes in that so many requests came in the seconds before that time. */
  void learn(LocalDateTime now, double windowSeconds, long windowRequests) {
    int current = (now.getHour() * 60 + now.getMinute()) / MINUTES;
    if (current != slot) {
      close();
      slot = current;
    }
    seconds += windowSeconds;
    requests += windowRequests;
  }

  private void close() {
    if (slot >= 0 && seconds >= LEAST_SECONDS) {
      days[slot] = Math.min(days[slot] + 1, DAYS);
      rates[slot] += (requests / seconds - rates[slot]) / days[slot];
    }
    seconds = 0;
    requests = 0;
  }

  /** The times of the day with far more requests than the day's mean, in order. */
  List<PeakHours> busyHours() {
    long known = Arrays.stream(days).filter(count -> count > 0).count();
    if (known < LEAST_SLOTS) {
      return List.of();
    }
    double mean = Arrays.stream(rates).sum() / known;
    List<PeakHours> busy = new ArrayList<>();
    int from = -1;
    for (int i = 0; i <= SLOTS; i++) {
      boolean isBusy = i < SLOTS && rates[i] > mean * BUSY;
      if (isBusy && from < 0) {
        from = i;
      } else if (!isBusy && from >= 0) {
        busy.add(new PeakHours(time(from), time(i)));
        from = -1;
      }
    }
    return busy;
  }

  private static LocalTime time(int slot) {
    return LocalTime.MIDNIGHT.plusMinutes((long) slot * MINUTES);
  }
}
