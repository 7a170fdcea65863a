package io.kamille.core.http;

import java.util.ArrayList;
import java.util.List;

/**
 * What one {@code Range} field asks of content whose length is known (RFC 9110 §14).
 *
 * @param offset of the first octet asked for
 * @param length octets asked for, at least 1 unless whole or unsatisfiable
 * @param completeLength octets of the whole representation
 */
public record ByteRange(Outcome kind, long offset, long length, long completeLength) {

  /*
   * Whatever is malformed or in another unit is answered by the whole, which §14.2 allows. So are
   * several ranges, unless who answers asks for them (severalOf).
   *
   * Many ranges, or such as overlap, can make a small request cost a large answer (§17.15). So
   * there is a limit to their number, and ranges that overlap, or lie so close that a part of its
   * own would cost more than what is between them, are made one (§15.3.7.2), in the place of the
   * first. Together they are then never more than the whole.
   */

  /** How to answer. */
  public enum Outcome {
    /** 200 with everything: there is no range we honour. */
    WHOLE,
    /** 206 (Partial Content) with this range. */
    PART,
    /** 416 (Range Not Satisfiable). */
    UNSATISFIABLE
  }

  private static final int LIMIT = 16;
  private static final int GAP_BYTES = 80;
  private static final String UNIT = "bytes=";
  private static final long NO_NUMBER = -1;

  /** What the {@code Range} lines of a request ask of {@code completeLength} octets. */
  public static ByteRange of(Fields request, long completeLength) {
    int index = request.indexOf(FieldName.RANGE);
    if (index < 0 || request.indexOf(FieldName.RANGE, index + 1) >= 0) {
      return whole(completeLength);
    }
    return parse(request.valueAt(index), completeLength);
  }

  /** What this {@code Range} value asks of {@code completeLength} octets. */
  public static ByteRange parse(String value, long completeLength) {
    if (!value.regionMatches(true, 0, UNIT, 0, UNIT.length())) {
      return whole(completeLength);
    }
    String range = value.substring(UNIT.length()).strip();
    int dash = range.indexOf('-');
    if (dash < 0) {
      return whole(completeLength);
    }
    return dash == 0
        ? suffix(range.substring(1), completeLength)
        : between(range.substring(0, dash), range.substring(dash + 1), completeLength);
  }

  /** {@code bytes=-500}: the last octets, all of them if there are fewer (§14.1.2). */
  private static ByteRange suffix(String text, long completeLength) {
    long wanted = number(text);
    if (wanted == 0) {
      return unsatisfiable(completeLength);
    }
    if (wanted == NO_NUMBER || completeLength == 0) {
      return whole(completeLength);
    }
    long length = Math.min(wanted, completeLength);
    return new ByteRange(Outcome.PART, completeLength - length, length, completeLength);
  }

  /** {@code bytes=0-499} or {@code bytes=500-} (§14.1.2). */
  private static ByteRange between(String firstText, String lastText, long completeLength) {
    long first = number(firstText);
    long last = lastText.isEmpty() ? Long.MAX_VALUE : number(lastText);
    if (first == NO_NUMBER || last == NO_NUMBER || last < first) {
      return whole(completeLength);
    }
    if (first >= completeLength) {
      return unsatisfiable(completeLength);
    }
    long length = Math.min(last, completeLength - 1) - first + 1;
    return new ByteRange(Outcome.PART, first, length, completeLength);
  }

  private static ByteRange whole(long completeLength) {
    return new ByteRange(Outcome.WHOLE, 0, completeLength, completeLength);
  }

  private static ByteRange unsatisfiable(long completeLength) {
    return new ByteRange(Outcome.UNSATISFIABLE, 0, 0, completeLength);
  }

  /** Decimal digits, saturated, or {@link #NO_NUMBER}. */
  private static long number(String text) {
    long number = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return NO_NUMBER;
      }
      number = number > (Long.MAX_VALUE - 9) / 10 ? Long.MAX_VALUE : number * 10 + digit;
    }
    return text.isEmpty() ? NO_NUMBER : number;
  }

  /**
   * The value of {@code Content-Range} in a 206 or 416 (§14.4).
   *
   * @throws IllegalStateException if the answer is the whole, which has no such field
   */
  public String contentRange() {
    return switch (kind) {
      case PART -> "bytes " + offset + "-" + (offset + length - 1) + "/" + completeLength;
      case UNSATISFIABLE -> "bytes */" + completeLength;
      case WHOLE -> throw new IllegalStateException("a whole answer has no Content-Range");
    };
  }

  // Several

  /**
   * The ranges to send, in the order asked for; empty if there is no list of ranges that we honour,
   * so that {@link #of} says what to do. Of one range that is left, or none that can be satisfied,
   * the list has this one.
   */
  public static List<ByteRange> severalOf(Fields request, long completeLength) {
    int index = request.indexOf(FieldName.RANGE);
    if (index < 0 || request.indexOf(FieldName.RANGE, index + 1) >= 0) {
      return List.of();
    }
    String value = request.valueAt(index);
    return value.indexOf(',') < 0 ? List.of() : several(value, completeLength);
  }

  private static List<ByteRange> several(String value, long completeLength) {
    String unit = value.substring(0, value.indexOf('=') + 1);
    List<ByteRange> ranges = new ArrayList<>();
    ByteRange unsatisfiable = null;
    int members = 0;
    for (String member : value.substring(unit.length()).split(",", -1)) {
      String range = member.strip();
      if (range.isEmpty()) {
        continue;
      }
      ByteRange asked = parse(unit + range, completeLength);
      members++;
      switch (asked.kind()) {
        case PART -> ranges.add(asked);
        case UNSATISFIABLE -> unsatisfiable = asked;
        case WHOLE -> members = LIMIT + 1;
      }
      if (members > LIMIT) {
        return List.of();
      }
    }
    if (ranges.isEmpty() && unsatisfiable != null) {
      return List.of(unsatisfiable);
    }
    boolean isDone;
    do {
      isDone = !joinsTwo(ranges);
    } while (!isDone);
    return ranges;
  }

  private static boolean joinsTwo(List<ByteRange> ranges) {
    for (int i = 0; i < ranges.size(); i++) {
      for (int j = i + 1; j < ranges.size(); j++) {
        if (isClose(ranges.get(i), ranges.get(j))) {
          ranges.set(i, union(ranges.get(i), ranges.remove(j)));
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isClose(ByteRange one, ByteRange other) {
    return one.offset() <= other.offset() + other.length() + GAP_BYTES
        && other.offset() <= one.offset() + one.length() + GAP_BYTES;
  }

  private static ByteRange union(ByteRange one, ByteRange other) {
    long start = Math.min(one.offset(), other.offset());
    long end = Math.max(one.offset() + one.length(), other.offset() + other.length());
    return new ByteRange(Outcome.PART, start, end - start, one.completeLength());
  }
}
