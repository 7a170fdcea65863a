package io.kamille.core.h2;

import io.kamille.core.http.Octets;

/**
 * When a response is to be sent (RFC 9218 §4). Immutable.
 *
 * @param urgency 0 is the most urgent, 7 the least
 * @param isIncremental whether a part is of use, so that it takes turns with others
 */
public record Priority(int urgency, boolean isIncremental) {

  static final int LEVELS = 8;

  /** Of a request that says nothing. */
  public static final Priority DEFAULT = new Priority(3, false);

  private static final Priority[] ALL = all();

  private static Priority[] all() {
    Priority[] all = new Priority[2 * LEVELS];
    for (int i = 0; i < all.length; i++) {
      all[i] = new Priority(i / 2, i % 2 == 1);
    }
    return all;
  }

  /**
   * The priority that a field value states. It is a dictionary of which two members count; what
   * cannot be read counts as absent (RFC 9218 §4).
   */
  public static Priority parse(byte[] octets, int start, int end) {
    int urgency = DEFAULT.urgency();
    boolean incremental = false;
    int at = start;
    while (at < end) {
      int memberEnd = Octets.indexOf(octets, at, end, ',');
      // Parameters of a member mean nothing yet (RFC 9218 §4).
      int semicolon = Octets.indexOf(octets, at, memberEnd, ';');
      int from = Octets.skipBlanks(octets, at, semicolon);
      int to = Octets.trimmedEnd(octets, from, semicolon);
      int length = to - from;
      if (length == 3 && octets[from] == 'u' && octets[from + 1] == '=') {
        int value = octets[from + 2] - '0';
        urgency = value >= 0 && value < LEVELS ? value : urgency;
      } else if (length >= 1 && octets[from] == 'i') {
        boolean isTrue = length == 4 && octets[from + 2] == '?' && octets[from + 3] == '1';
        boolean isFalse = length == 4 && octets[from + 2] == '?' && octets[from + 3] == '0';
        if (length == 1 || (octets[from + 1] == '=' && isTrue)) {
          incremental = true;
        } else if (octets[from + 1] == '=' && isFalse) {
          incremental = false;
        }
      }
      at = memberEnd + 1;
    }
    return ALL[2 * urgency + (incremental ? 1 : 0)];
  }
}
