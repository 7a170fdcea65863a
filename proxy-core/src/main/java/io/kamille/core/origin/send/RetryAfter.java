package io.kamille.core.origin.send;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;

/** After what time a server wants to be asked again (RFC 9110 §10.2.3). */
final class RetryAfter {

  /** More digits say no more: such a number is beyond all limits. */
  private static final int MOST_DIGITS = 9;

  private RetryAfter() {}

  /** In seconds from now; 0 or less if the fields say nothing of it. */
  static long seconds(Fields fields, long nowEpochSeconds) {
    String value = fields.first(FieldName.RETRY_AFTER);
    if (value == null || value.isEmpty()) {
      return 0;
    }
    if (value.chars().allMatch(octet -> octet >= '0' && octet <= '9')) {
      return value.length() > MOST_DIGITS ? Integer.MAX_VALUE : Long.parseLong(value);
    }
    long epochSeconds = HttpDate.parse(value, nowEpochSeconds);
    return epochSeconds == HttpDate.INVALID ? 0 : epochSeconds - nowEpochSeconds;
  }
}
