package io.kamille.core.log;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How the access log is written. Immutable.
 *
 * @param format how one line looks
 * @param file what is appended to, or empty for standard output
 * @param bufferBytes for records of one loop that wait to be written; rounded up to a power of two,
 *     at least 64 KiB
 */
public record AccessLogSettings(Format format, Optional<Path> file, int bufferBytes) {

  /** How one line looks. */
  public enum Format {
    /** Apache's combined format; duration, cache result and failure behind it. */
    COMBINED,
    /** One JSON object. */
    JSON
  }

  public AccessLogSettings {
    if (bufferBytes < 1 || bufferBytes > 1 << 30) {
      throw new IllegalArgumentException("bufferBytes: " + bufferBytes + " (expected: 1 to 2^30)");
    }
  }
}
