package io.kamille.core.http;

import java.util.ArrayList;
import java.util.List;

/**
 * What a {@code Range} field with several ranges asks of content whose length is known (RFC 9110
 * §14.1.2, §14.2). Stateless; any thread.
 */
public final class ByteRanges {

  /*
   * Many ranges, or such as overlap, can make a small request cost a large answer (§17.15). So
   * there is a limit to their number, and ranges that overlap, or lie so close that a part of its
   * own would cost more than what is between them, are made one (§15.3.7.2), in the place of the
   * first. Together they are then never more than the whole.
   */
  private static final int LIMIT = 16;
  private static final int GAP_BYTES = 80;

  private ByteRanges() {}

  /**
   * The ranges to send, in the order asked for; empty if there is no list of ranges that we honour,
   * so that {@link ByteRange#of} says what to do. Of one range that is left, or none that can be
   * satisfied, the list has this one.
   */
  public static List<ByteRange> of(Fields request, long completeLength) {
    int index = request.indexOf(FieldName.RANGE);
    if (index < 0 || request.indexOf(FieldName.RANGE, index + 1) >= 0) {
      return List.of();
    }
    String value = request.valueAt(index);
    return value.indexOf(',') < 0 ? List.of() : parse(value, completeLength);
  }

  private static List<ByteRange> parse(String value, long completeLength) {
    String unit = value.substring(0, value.indexOf('=') + 1);
    List<ByteRange> ranges = new ArrayList<>();
    ByteRange unsatisfiable = null;
    int members = 0;
    for (String member : value.substring(unit.length()).split(",", -1)) {
      String range = member.strip();
      if (range.isEmpty()) {
        continue;
      }
      ByteRange asked = ByteRange.parse(unit + range, completeLength);
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
    return new ByteRange(ByteRange.Kind.PART, start, end - start, one.completeLength());
  }
}
