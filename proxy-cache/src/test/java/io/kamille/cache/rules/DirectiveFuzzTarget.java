package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldFuzzTarget;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/** Cache directives and Vary, from octets that a guided fuzzer thinks of. */
public final class DirectiveFuzzTarget {

  private DirectiveFuzzTarget() {}

  /** Called for each input. */
  public static void fuzzerTestOneInput(byte[] input) {
    String value = new String(input, StandardCharsets.ISO_8859_1);
    if (FieldFuzzTarget.isValue(value)) {
      CacheControlFuzzTest.assertInRange(CacheControl.parse(value), value);
      CacheControlFuzzTest.addUnknown(value);
      RequestHead request =
          RequestHead.of("GET", "http://a/", "Accept", value, "Accept-Encoding", "br");
      SelectingFields selecting =
          SelectingFields.of(Fields.of("Vary", value), request, VaryBy.NONE);
      boolean isAll = Stream.of(value.split(",", -1)).anyMatch(name -> name.strip().equals("*"));
      assertThat(isAll && selecting.matches(request)).isFalse();
    }
  }
}
