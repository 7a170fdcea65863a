package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.h1.Spoiler;
import io.kamille.core.http.ByteRange.Outcome;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Ranges, sound and spoiled, beside a second reading that knows numbers of any size and marks octet
 * by octet what is asked for (RFC 9110 §14.1.2, §14.2, §15.3.7.2, §17.15).
 */
class ByteRangesFuzzTest {

  private static final int ROUNDS = 15_000;
  private static final int RANGES_LIMIT = 16;
  private static final int GAP_BYTES = 80;
  private static final Pattern VALUE = Pattern.compile("(?i)bytes=(.*)");
  private static final Pattern RANGE = Pattern.compile("([0-9]*)-([0-9]*)");

  /** From here on a number is the greatest long. */
  private static final BigInteger SATURATED = new BigInteger("9223372036854775800");

  private static final List<String> SOUND =
      List.of(
          "bytes=0-499",
          "bytes=500-",
          "bytes=-500",
          "bytes=0-0,-1",
          "bytes=500-600, 601-999",
          "Bytes=0-9,200-209,100-109,400-",
          "bytes=0-9,100-109,200-209,300-309,400-409,500-509,600-609,700-709,800-809",
          "bytes=9223372036854775807-9223372036854775808,0-1");
  private static final List<String> WORDS =
      List.of(
          "bytes=",
          "0-",
          "-1",
          "-0",
          "5-3",
          "90-95",
          "180-",
          "0",
          "1",
          "9",
          "300",
          "-",
          ",",
          ", ",
          "\t",
          "=",
          "+",
          "x",
          "99999999999999999999",
          "9223372036854775807",
          ",,,,",
          "0-1,");

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final Spoiler spoiler = new Spoiler(random, SOUND, WORDS);

  /** What a value asks for: nothing we honour, or these octets, beginning with that one. */
  private record Asked(boolean isHonoured, BitSet octets, int first) {

    static final Asked WHOLE = new Asked(false, new BitSet(), 0);
  }

  @Test
  void whatIsAskedForIsAnsweredAndHardlyMore() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String value = spoiler.next();
      int length = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(1_200);
      check(value, length);
    }
    budget.report("ranges");
  }

  static void check(String value, int length) {
    String because = "seed " + FuzzBudget.SEED + ": '" + value + "' of " + length;
    Fields fields = Fields.of("Range", value);
    ByteRange one = ByteRange.of(fields, length);
    List<ByteRange> several = ByteRange.severalOf(fields, length);
    check(several.isEmpty() ? List.of(one) : several, asked(value, length), length, because);
  }

  @Test
  void aRangeOfAnyLengthLiesWithinIt() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String value = spoiler.next();
      long length = random.nextLong(1L << random.nextInt(1, 62));
      String because = "seed " + FuzzBudget.SEED + ": '" + value + "' of " + length;
      Fields fields = Fields.of("Range", value);
      List<ByteRange> ranges = new ArrayList<>(ByteRange.severalOf(fields, length));
      ranges.add(ByteRange.of(fields, length));
      for (ByteRange range : ranges) {
        assertThat(range.offset()).as(because).isBetween(0L, length);
        assertThat(range.length()).as(because).isBetween(0L, length - range.offset());
      }
    }
    budget.report("ranges of any length");
  }

  private static void check(List<ByteRange> answer, Asked asked, int length, String because) {
    if (!asked.isHonoured() || asked.octets().isEmpty()) {
      ByteRange expected =
          asked.isHonoured()
              ? new ByteRange(Outcome.UNSATISFIABLE, 0, 0, length)
              : new ByteRange(Outcome.WHOLE, 0, length, length);
      assertThat(answer).as(because).containsExactly(expected);
      return;
    }
    BitSet sent = new BitSet();
    for (ByteRange range : answer) {
      int start = (int) range.offset();
      int end = (int) (range.offset() + range.length());
      assertThat(range.kind()).as(because).isEqualTo(Outcome.PART);
      assertThat(start).as(because).isBetween(0, end - 1);
      assertThat(end).as(because).isLessThanOrEqualTo(length);
      assertThat(sent.get(Math.max(0, start - GAP_BYTES), Math.min(length, end + GAP_BYTES)))
          .as(because + ", apart from the others")
          .isEqualTo(new BitSet());
      sent.set(start, end);
    }
    assertThat(sent).as(because).isEqualTo(withoutGaps(asked.octets()));
    ByteRange first = answer.getFirst();
    assertThat((long) asked.first())
        .as(because + ", the first")
        .isBetween(first.offset(), first.offset() + first.length() - 1);
  }

  private static BitSet withoutGaps(BitSet octets) {
    BitSet filled = (BitSet) octets.clone();
    int end = octets.nextClearBit(octets.nextSetBit(0));
    for (int next = octets.nextSetBit(end); next >= 0; next = octets.nextSetBit(end)) {
      if (next - end <= GAP_BYTES) {
        filled.set(end, next);
      }
      end = octets.nextClearBit(next);
    }
    return filled;
  }

  // The second reading

  private static Asked asked(String value, int length) {
    Matcher list = VALUE.matcher(value);
    if (!list.matches()) {
      return Asked.WHOLE;
    }
    BitSet octets = new BitSet();
    int first = -1;
    int members = 0;
    for (String member : list.group(1).split(",", -1)) {
      if (member.isBlank()) {
        continue;
      }
      BitSet range = range(member.strip(), length);
      members++;
      if (range == null) {
        return Asked.WHOLE;
      }
      first = first < 0 ? range.nextSetBit(0) : first;
      octets.or(range);
    }
    return members == 0 || members > RANGES_LIMIT ? Asked.WHOLE : new Asked(true, octets, first);
  }

  /** The octets of one range, none if it cannot be satisfied; null if it is to be ignored. */
  private static @Nullable BitSet range(String text, int length) {
    Matcher range = RANGE.matcher(text);
    if (!range.matches() || text.equals("-")) {
      return null;
    }
    BigInteger complete = BigInteger.valueOf(length);
    BitSet octets = new BitSet();
    if (range.group(1).isEmpty()) {
      BigInteger suffix = number(range.group(2));
      if (suffix.signum() > 0 && length == 0) {
        return null;
      }
      octets.set(complete.subtract(suffix.min(complete)).intValue(), length);
      return octets;
    }
    BigInteger start = number(range.group(1));
    BigInteger last = range.group(2).isEmpty() ? SATURATED : number(range.group(2));
    if (last.compareTo(start) < 0) {
      return null;
    }
    if (start.compareTo(complete) < 0) {
      octets.set(start.intValue(), last.add(BigInteger.ONE).min(complete).intValue());
    }
    return octets;
  }

  private static BigInteger number(String digits) {
    return new BigInteger(digits).min(SATURATED);
  }
}
