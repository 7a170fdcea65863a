package io.kamille.core.http;

import java.nio.charset.StandardCharsets;

/** Dates and ranges, from octets that a guided fuzzer thinks of. */
public final class FieldFuzzTarget {

  private FieldFuzzTarget() {}

  /** Called for each input: the first octet is the length of the content, the rest the value. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    String value = new String(input, 1, input.length - 1, StandardCharsets.ISO_8859_1);
    if (isValue(value)) {
      HttpDateFuzzTest.check(value);
      ByteRangesFuzzTest.check("bytes=" + value, 4 * (input[0] & 0xff));
    }
  }

  /** Whether a parser lets a field have that value (RFC 9110 §5.5). */
  public static boolean isValue(String text) {
    return text.strip().equals(text)
        && text.chars().allMatch(octet -> octet == '\t' || (octet >= ' ' && octet != 0x7f));
  }
}
