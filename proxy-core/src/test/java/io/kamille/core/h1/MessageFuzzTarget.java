package io.kamille.core.h1;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** Heads, content and trailers of either side, from octets that a guided fuzzer thinks of. */
public final class MessageFuzzTarget {

  private MessageFuzzTarget() {}

  /** Called for each input. */
  public static void fuzzerTestOneInput(byte[] input) {
    String octets = new String(input, StandardCharsets.ISO_8859_1);
    readCut(octets, Transcript::ofRequests);
    readCut(octets, Transcript::ofResponses);
    DifferenceFromNettyFuzzTest.compareRequests(octets);
    DifferenceFromNettyFuzzTest.compareResponses(octets);
  }

  private static void readCut(String octets, Function<List<String>, Transcript> read) {
    assertThat(read.apply(Cuts.oneByOne(octets))).isEqualTo(read.apply(List.of(octets)));
  }

  /** Writes what to begin with into the directory that the argument names. */
  public static void main(String... directory) throws IOException {
    int number = 0;
    for (List<String> seeds : List.of(Corpus.REQUESTS, Corpus.RESPONSES)) {
      for (String seed : seeds) {
        Path file = Path.of(directory[0], "seed-" + number++);
        Files.writeString(file, seed, StandardCharsets.ISO_8859_1);
      }
    }
  }
}
