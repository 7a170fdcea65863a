package io.kamille.core.http;

/**
 * The content codings that a request takes, with their weights, as {@code Accept-Encoding} tells
 * them (RFC 9110 §12.5.3). Stateless; any thread; makes no garbage.
 */
public final class AcceptedCodings {

  /*
   * The weights are packed into one long, a lane of twelve bits each; a lane holds the weight in
   * thousandths plus one, and zero for what is not listed:
   *
   *   59       48 47       36 35       24 23       12 11        0
   *  ┌───────────┬───────────┬───────────┬───────────┬───────────┐
   *  │ *         │ gzip      │ br        │ zstd      │ identity  │
   *  └───────────┴───────────┴───────────┴───────────┴───────────┘
   *
   * A member that is malformed lists nothing. Of a coding listed twice the lower weight counts: who
   * is sent too little coded has lost nothing.
   */

  /** The greatest weight, {@code q=1}. */
  public static final int MOST = 1000;

  /** The weight of identity that nothing is said of: acceptable, and liked least. */
  private static final int LEAST = 1;

  private static final int LANE = 12;
  private static final int LANE_MASK = (1 << LANE) - 1;
  private static final int IDENTITY = 0;
  private static final int ANY = ContentCoding.values().length + 1;
  private static final int UNKNOWN = -1;

  /** What {@link #weight(byte[], int, int)} says of what is none. */
  public static final int MALFORMED = -1;

  private static final ContentCoding[] CODINGS = ContentCoding.values();

  private AcceptedCodings() {}

  /** All weights, for {@link #weight} and {@link #identityWeight}. */
  public static long of(Fields request) {
    long lanes = 0;
    for (int i = request.indexOf(FieldName.ACCEPT_ENCODING);
        i >= 0;
        i = request.indexOf(FieldName.ACCEPT_ENCODING, i + 1)) {
      lanes = line(lanes, request.octets(), request.valueStart(i), request.valueEnd(i));
    }
    return lanes;
  }

  /** The weight of a coding in thousandths; zero if it is not acceptable. */
  public static int weight(long accepted, ContentCoding coding) {
    int own = lane(accepted, lane(coding));
    return Math.max(0, (own == 0 ? lane(accepted, ANY) : own) - 1);
  }

  /** The weight of content without coding, which is acceptable unless it is excluded. */
  public static int identityWeight(long accepted) {
    int own = lane(accepted, IDENTITY);
    int any = lane(accepted, ANY);
    if (own != 0) {
      return own - 1;
    }
    return any != 0 ? any - 1 : LEAST;
  }

  /** Whether the request excludes content without coding. */
  public static boolean refuseIdentity(Fields request) {
    return request.has(FieldName.ACCEPT_ENCODING) && identityWeight(of(request)) == 0;
  }

  private static long line(long before, byte[] octets, int start, int end) {
    long lanes = before;
    int from = start;
    while (from < end) {
      int comma = Octets.indexOf(octets, from, end, ',');
      lanes = member(lanes, octets, from, comma);
      from = comma + 1;
    }
    return lanes;
  }

  /** Takes in {@code coding [ ";" "q=" weight ]} with white space around its parts. */
  private static long member(long lanes, byte[] octets, int start, int end) {
    int nameStart = Octets.skipBlanks(octets, start, end);
    int nameEnd = nameStart;
    while (nameEnd < end && Octets.tokenLower(octets[nameEnd]) != 0) {
      nameEnd++;
    }
    int lane = lane(octets, nameStart, nameEnd);
    if (lane == UNKNOWN) {
      return lanes;
    }
    int thousandths = weight(octets, Octets.skipBlanks(octets, nameEnd, end), end);
    if (thousandths == MALFORMED) {
      return lanes;
    }
    int listed = lane(lanes, lane);
    int value = listed == 0 ? thousandths + 1 : Math.min(listed, thousandths + 1);
    int shift = lane * LANE;
    return (lanes & ~((long) LANE_MASK << shift)) | (long) value << shift;
  }

  private static int lane(byte[] octets, int start, int end) {
    for (ContentCoding coding : CODINGS) {
      if (Octets.equalsIgnoreCase(octets, start, end, coding.token())) {
        return lane(coding);
      }
    }
    if (Octets.equalsIgnoreCase(octets, start, end, "identity")) {
      return IDENTITY;
    }
    if (Octets.equalsIgnoreCase(octets, start, end, "*")) {
      return ANY;
    }
    boolean isOldName = Octets.equalsIgnoreCase(octets, start, end, "x-gzip");
    return isOldName ? lane(ContentCoding.GZIP) : UNKNOWN;
  }

  private static int lane(ContentCoding coding) {
    return coding.ordinal() + 1;
  }

  private static int lane(long lanes, int lane) {
    return (int) (lanes >>> (lane * LANE)) & LANE_MASK;
  }

  /**
   * The weight behind a member of a list, {@code ;q=0.5} (RFC 9110 §12.4.2), in thousandths; {@link
   * #MOST} if there is none.
   */
  public static int weight(byte[] octets, int start, int end) {
    if (start == end) {
      return MOST;
    }
    if (octets[start] != ';') {
      return MALFORMED;
    }
    int at = Octets.skipBlanks(octets, start + 1, end);
    if (end - at < 3 || Octets.lower(octets[at]) != 'q' || octets[at + 1] != '=') {
      return MALFORMED;
    }
    return qvalue(octets, at + 2, end);
  }

  /** {@code 0.123} in thousandths. */
  private static int qvalue(byte[] octets, int start, int end) {
    int at = start;
    int whole = octets[at++] - '0';
    if (whole != 0 && whole != 1) {
      return MALFORMED;
    }
    int thousandths = whole * MOST;
    if (at < end && octets[at] == '.') {
      at++;
      for (int unit = MOST / 10; unit > 0 && at < end && Octets.isDigit(octets[at]); unit /= 10) {
        thousandths += (octets[at++] - '0') * unit;
      }
    }
    return Octets.skipBlanks(octets, at, end) == end && thousandths <= MOST
        ? thousandths
        : MALFORMED;
  }
}
