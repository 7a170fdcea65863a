package io.kamille.perf.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Tells whether code is still what a report was made of. */
public final class MeasuredCode {

  private static final int LENGTH = 12;
  private static final Predicate<String> COMMENT =
      Pattern.compile("(//|/?\\*|import |package ).*").asMatchPredicate();

  private MeasuredCode() {}

  /**
   * A digest of these files and of all files in these folders. Comments and blanks do not count.
   *
   * @param sources paths from {@code root}
   * @throws java.nio.file.NoSuchFileException if one is not there
   */
  public static String digest(Path root, List<String> sources) throws IOException {
    MessageDigest digest = sha256();
    for (String source : sources) {
      try (Stream<Path> files = Files.walk(root.resolve(source))) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          digest.update(root.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
          Files.readAllLines(file).stream()
              .map(String::strip)
              .filter(line -> !line.isEmpty() && !COMMENT.test(line))
              .forEach(line -> digest.update(line.getBytes(StandardCharsets.UTF_8)));
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest()).substring(0, LENGTH);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
