package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines up to an empty one: the common part of request heads, response heads and trailer
 * sections (RFC 9112 §2.1, §5). Confined to its loop; one section at a time.
 */
abstract class SectionParser {

  /*
   * Octets are copied once, from the network buffer into the array of the Fields under
   * construction, and looked at there: array access is what the JIT does best, and nothing of the
   * network buffer is kept while a slow client dawdles. A line is parsed when its LF has come and
   * not before: the work stays linear in the octets, the verdict is the same however they are cut,
   * and no scan needs to look for the end, since every one stops at an LF.
   *
   * Strict where leniency has been used to smuggle: lines end in CRLF and nothing else, no white
   * space around names, no folding, no control octets (RFC 9112 §2.2, §5.1, §5.2; RFC 9110 §5.5).
   */

  /** What came of looking at some more octets. */
  public enum Outcome {
    /** The section goes on; everything given was taken. */
    NEED_MORE,
    /** The section is complete; octets behind it were left in the buffer. */
    COMPLETE,
    /** The section is not valid or too large; {@link #failure} says why. The parser is spent. */
    MALFORMED
  }

  /**
   * Octets taken from the buffer at a time, so that a long pipeline is not copied over and over.
   */
  private static final int STEP = 1024;

  /** What the parser of a line answers when it has called {@link #reject}. */
  static final int REJECTED = -1;

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;

  private final int maxFields;
  private final int maxBytes;
  private Fields fields;
  private int filled;
  private int lineStart;
  private boolean startLineDone;
  private @Nullable Failure failure;

  SectionParser(Fields fields, int maxFields, int maxBytes, boolean hasStartLine) {
    this.fields = fields;
    this.maxFields = maxFields;
    this.maxBytes = maxBytes;
    this.startLineDone = !hasStartLine;
  }

  /** Begins a new section with a start line in {@code fields}. */
  final void restart(Fields fields) {
    this.fields = fields;
    this.filled = 0;
    this.lineStart = 0;
    this.startLineDone = false;
    this.failure = null;
  }

  /** Whether any octet of the section has come. */
  public final boolean isBegun() {
    return filled > 0;
  }

  /** Whether nothing has come before the start line but empty lines, be it a part of one. */
  public final boolean isBlank() {
    return !startLineDone
        && (filled == lineStart || (filled == lineStart + 1 && fields.octets()[lineStart] == '\r'));
  }

  /** Octets of heap that the section takes so far. */
  public final int heapBytes() {
    return fields.heapBytes();
  }

  /** Why the section is malformed. */
  public final Failure failure() {
    if (failure == null) {
      throw new IllegalStateException("failure: asked for before MALFORMED");
    }
    return failure;
  }

  /** Looks at more octets. Borrows the buffer and moves its reader index past what it took. */
  public final Outcome parse(ByteBuf in) {
    while (in.isReadable()) {
      int step = Math.min(Math.min(in.readableBytes(), STEP), room());
      if (step == 0) {
        return malformed(tooLarge(startLineDone));
      }
      byte[] octets = fields.roomFor(filled + step);
      in.getBytes(in.readerIndex(), octets, filled, step);
      int before = filled;
      filled += step;
      int linesEnd = lastLf(octets, before, filled) + 1;
      Outcome outcome = linesEnd == 0 ? Outcome.NEED_MORE : parseLines(octets, linesEnd);
      if (outcome == Outcome.COMPLETE) {
        in.skipBytes(lineStart - before);
        filled = lineStart;
        return outcome;
      }
      in.skipBytes(step);
      if (outcome == Outcome.MALFORMED) {
        return outcome;
      }
    }
    return Outcome.NEED_MORE;
  }

  /** Octets that may come before the start line or the section is over its limit. */
  private int room() {
    int section = maxBytes - filled;
    return startLineDone ? section : Math.min(section, lineStart + startLineLimit() - filled);
  }

  private static int lastLf(byte[] octets, int from, int end) {
    for (int i = end - 1; i >= from; i--) {
      if (octets[i] == '\n') {
        return i;
      }
    }
    return -1;
  }

  /**
   * Parses lines up to {@code end}, the end of a line; {@code lineStart} ends behind the last one.
   */
  private Outcome parseLines(byte[] octets, int end) {
    while (lineStart < end) {
      int next;
      if (!startLineDone) {
        next = startLine(octets, lineStart, end);
      } else if (octets[lineStart] != '\r') {
        next = fieldLine(octets, lineStart, end);
      } else if (octets[lineStart + 1] != '\n') {
        return malformed(bad("a CR without LF"));
      } else {
        lineStart += 2;
        Failure trouble = finish();
        return trouble == null ? Outcome.COMPLETE : malformed(trouble);
      }
      if (next == REJECTED) {
        return Outcome.MALFORMED;
      }
      lineStart = next;
    }
    return Outcome.NEED_MORE;
  }

  /**
   * Parses the start line at {@code start}, of which all is there.
   *
   * @return where the next line begins, or {@link #REJECTED}
   */
  abstract int startLine(byte[] octets, int start, int end);

  /** Checks the whole section once its empty line has come. */
  abstract @Nullable Failure finish();

  /** A fault in the syntax, with the status code that suits the side. */
  abstract Failure bad(String reason);

  /** A section over its limit; {@code inFields} tells whether the start line was complete. */
  abstract Failure tooLarge(boolean inFields);

  /** Octets a start line may have, with its CRLF. */
  abstract int startLineLimit();

  final void startLineIsDone() {
    startLineDone = true;
  }

  final Outcome malformed(Failure why) {
    failure = why;
    return Outcome.MALFORMED;
  }

  final int reject(Failure why) {
    failure = why;
    return REJECTED;
  }

  private int fieldLine(byte[] octets, int start, int end) {
    int hash = 0;
    int at = start;
    byte lower;
    while ((lower = Octets.tokenLower(octets[at])) != 0) {
      hash = FieldName.hashStep(hash, lower);
      at++;
    }
    if (octets[at] != ':' || at == start) {
      return reject(bad(nameFault(octets[at], at == start)));
    }
    int nameEnd = at++;
    while (Octets.isBlank(octets[at])) {
      at++;
    }
    int valueStart = at;
    at = endOfText(octets, at, end);
    if (octets[at] != '\r' || octets[at + 1] != '\n') {
      return reject(
          bad(
              octets[at] == '\r' || octets[at] == '\n'
                  ? "a line that does not end in CRLF"
                  : "a control octet in a value"));
    }
    int valueEnd = Octets.trimmedEnd(octets, valueStart, at);
    if (fields.size() == maxFields) {
      return reject(tooLarge(true));
    }
    fields.pushParsed(
        start, nameEnd, valueStart, valueEnd, FieldName.of(octets, start, nameEnd, hash));
    return at + 2;
  }

  private static String nameFault(byte octet, boolean first) {
    return switch (octet) {
      case ' ', '\t' -> first ? "a folded line" : "white space in a field name";
      case ':' -> "an empty field name";
      case '\n', '\r' -> "a field line without a colon";
      default -> "an octet that no field name may have";
    };
  }

  /**
   * The first octet from {@code at} that is neither visible, blank nor obs-text; {@code end} if
   * there is none. Eight octets at a time: a zero test on the octets less 0x20, and on the octets
   * that equal DEL.
   */
  static int endOfText(byte[] octets, int at, int end) {
    int i = at;
    while (true) {
      while (i + Long.BYTES <= end) {
        long word = Octets.word(octets, i);
        long del = word ^ (ONES * 0x7f);
        long hits = (((word - ONES * 0x20) & ~word) | ((del - ONES) & ~del)) & HIGHS;
        if (hits != 0) {
          i += Long.numberOfTrailingZeros(hits) >>> 3;
          break;
        }
        i += Long.BYTES;
      }
      while (i < end && isText(octets[i])) {
        i++;
      }
      if (i == end || !Octets.isBlank(octets[i])) {
        return i;
      }
      i++;
    }
  }

  private static boolean isText(byte octet) {
    return octet < 0 || (octet >= 0x20 && octet != 0x7f);
  }
}
