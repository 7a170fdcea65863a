package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Octets;

/**
 * How long ago the origin made or validated a response, in seconds (RFC 9111 §4.2.3, with its
 * names).
 */
public final class CurrentAge {

  private CurrentAge() {}

  /**
   * {@code age_value}: the first member of {@code Age}, saturated at the greatest int; 0 if there
   * is none or it is no non-negative integer (§5.1).
   */
  static int ageValue(Fields fields) {
    int index = fields.indexOf(FieldName.AGE);
    if (index < 0) {
      return 0;
    }
    byte[] octets = fields.octets();
    int at = fields.valueStart(index);
    int end = fields.valueEnd(index);
    long seconds = 0;
    int digits = 0;
    for (; at < end && Octets.isDigit(octets[at]); at++, digits++) {
      seconds = Math.min(seconds * 10 + (octets[at] - '0'), Integer.MAX_VALUE);
    }
    at = Octets.skipBlanks(octets, at, end);
    boolean isMember = digits > 0 && (at == end || octets[at] == ',');
    return isMember ? (int) seconds : 0;
  }

  /**
   * {@code date_value} in epoch seconds; the time the response was received if {@code Date} is
   * absent or invalid (RFC 9110 §6.6.1).
   */
  static long dateValue(Fields fields, long responseTime) {
    long date = HttpDate.parse(fields.first(FieldName.DATE), responseTime);
    return date == HttpDate.INVALID ? responseTime : date;
  }

  /**
   * {@code corrected_initial_age}: the greater of what {@code Date} and what {@code Age} suggest,
   * the reading that is safe when a cache on the way does not insert {@code Age}.
   *
   * @param requestTime when the request for the response was sent, in epoch seconds
   * @param responseTime when the response was received, in epoch seconds
   */
  static int correctedInitialAge(Fields fields, long requestTime, long responseTime) {
    long apparentAge = Math.max(0, responseTime - dateValue(fields, responseTime));
    long responseDelay = Math.max(0, responseTime - requestTime);
    long correctedAgeValue = ageValue(fields) + responseDelay;
    return (int) Math.min(Math.max(apparentAge, correctedAgeValue), Integer.MAX_VALUE);
  }

  /** {@code current_age}; it never falls, even when the clock does. */
  static int at(long now, int correctedInitialAge, long responseTime) {
    long residentTime = Math.max(0, now - responseTime);
    return (int) Math.min(correctedInitialAge + residentTime, Integer.MAX_VALUE);
  }
}
