package io.kamille.core.h1;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.EnumSet;
import java.util.Set;

/**
 * The fields that are meant for one connection only and go no further (RFC 9110 §7.6.1). Stateless;
 * any thread.
 */
public final class ConnectionFields {

  private static final Set<FieldName> ALWAYS =
      EnumSet.of(
          FieldName.CONNECTION,
          FieldName.KEEP_ALIVE,
          FieldName.PROXY_CONNECTION,
          FieldName.TE,
          FieldName.TRAILER,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE,
          FieldName.HTTP2_SETTINGS);

  /** Fields that frame or secure the message are no connection options, whoever says so. */
  private static final Set<FieldName> NEVER =
      EnumSet.of(
          FieldName.CONTENT_LENGTH,
          FieldName.HOST,
          FieldName.CACHE_CONTROL,
          FieldName.AUTHORIZATION);

  private static final long ALWAYS_MASK = Fields.mask(ALWAYS.toArray(FieldName[]::new));

  private static final int MOST_OCTETS = 1024;

  private ConnectionFields() {}

  /**
   * Whether line {@code index} goes no further: for its name, or because {@code Connection} names
   * it. {@code Trailer} is among them: it announces what we may not pass on.
   */
  public static boolean includes(Fields fields, int index) {
    FieldName known = fields.knownAt(index);
    if (known != null && ALWAYS.contains(known)) {
      return true;
    }
    if (!fields.has(FieldName.CONNECTION) || (known != null && NEVER.contains(known))) {
      return false;
    }
    return !isPlain(fields) && names(fields, fields.nameAt(index));
  }

  /**
   * Whether {@code Connection} is longer than any that means something: each other line is compared
   * with all of it.
   */
  public static boolean isExcessive(Fields fields) {
    if (!fields.has(FieldName.CONNECTION)) {
      return false;
    }
    int octets = 0;
    for (int line = fields.indexOf(FieldName.CONNECTION);
        line >= 0;
        line = fields.indexOf(FieldName.CONNECTION, line + 1)) {
      octets += fields.valueEnd(line) - fields.valueStart(line);
    }
    return octets > MOST_OCTETS;
  }

  /** Removes all lines that go no further. */
  public static void remove(Fields fields) {
    if (!fields.hasAny(ALWAYS_MASK)) {
      return;
    }
    for (int i = fields.size() - 1; i >= 0; i--) {
      // Removing a name takes all its lines, so that i may point behind the last by now.
      if (i < fields.size() && includes(fields, i)) {
        removeName(fields, i);
      }
    }
    fields.remove(FieldName.CONNECTION);
  }

  private static void removeName(Fields fields, int index) {
    FieldName known = fields.knownAt(index);
    if (known == null) {
      fields.remove(fields.nameAt(index));
    } else if (known != FieldName.CONNECTION) {
      fields.remove(known);
    }
  }

  /** Whether {@code Connection} is one option that names no field, or one that goes anyway. */
  private static boolean isPlain(Fields fields) {
    int line = fields.indexOf(FieldName.CONNECTION);
    byte[] octets = fields.octets();
    int start = fields.valueStart(line);
    int end = fields.valueEnd(line);
    return fields.indexOf(FieldName.CONNECTION, line + 1) < 0
        && (Octets.equalsIgnoreCase(octets, start, end, "keep-alive")
            || Octets.equalsIgnoreCase(octets, start, end, "close")
            || Octets.equalsIgnoreCase(octets, start, end, "upgrade"));
  }

  /** Whether {@code Connection} names this option, in any case (RFC 9110 §7.6.1). */
  public static boolean names(Fields fields, String option) {
    if (!fields.has(FieldName.CONNECTION)) {
      return false;
    }
    byte[] octets = fields.octets();
    for (int line = fields.indexOf(FieldName.CONNECTION);
        line >= 0;
        line = fields.indexOf(FieldName.CONNECTION, line + 1)) {
      if (listHas(octets, fields.valueStart(line), fields.valueEnd(line), option)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a comma-separated list has that member, in any case. */
  private static boolean listHas(byte[] octets, int start, int end, String member) {
    int from = start;
    while (from <= end) {
      int to = Octets.indexOf(octets, from, end, ',');
      int first = Octets.skipBlanks(octets, from, to);
      int last = Octets.trimmedEnd(octets, first, to);
      if (Octets.equalsIgnoreCase(octets, first, last, member)) {
        return true;
      }
      from = to + 1;
    }
    return false;
  }

  /** Whether who sent these fields takes trailers (RFC 9110 §10.1.4). */
  public static boolean takesTrailers(Fields fields) {
    String te = fields.has(FieldName.TE) ? fields.joined(FieldName.TE) : null;
    if (te != null) {
      for (String coding : te.split(",", -1)) {
        if (coding.strip().equalsIgnoreCase("trailers")) {
          return true;
        }
      }
    }
    return false;
  }
}
